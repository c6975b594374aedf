import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { listLivePods, listNewestPods } from "./live-pods.ts";
import type { PodState, Subject } from "./pod-state.ts";

it("lists the pods of which something may run, as they are or as sources show them, and no orphans", () => {
  const pod = (uid: string): Pod => ({ metadata: { uid }, spec: { containers: [] } });
  const common = { fullName: "", restartRequested: false };
  const ending = { ...common, deleted: true, evicted: false, gracePeriodSeconds: 1, statusOverride: undefined };
  const of = (uid: string) => ({ kind: "pod", pod: pod(uid) }) as const;
  const orphan: Subject = { kind: "orphan", pod: { uid: "o", name: "", namespace: "", sandboxes: [], containers: [] } };
  const states = new Map<string, PodState>([
    ["1", { ...common, phase: "syncing", subject: of("1") }],
    ["2", { ...ending, phase: "terminating", subject: of("2") }],
    ["3", { ...ending, phase: "terminated", subject: of("3") }],
    ["4", { ...ending, phase: "finished", subject: of("4") }],
    ["o", { ...ending, phase: "terminating", subject: orphan }],
  ]);
  expect(listLivePods(states)).toEqual([pod("1"), pod("2")]);
  const shown: Pod = { ...pod("1"), status: { phase: "Running" } };
  expect(listNewestPods(states, (uid) => (uid === "1" ? shown : undefined))).toEqual([shown, pod("2")]);
});
