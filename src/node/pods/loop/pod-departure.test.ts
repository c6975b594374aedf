import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import type { PodState, Subject } from "../workers/pod-state.ts";
import { createPodForgetter } from "./forget-pod.ts";
import { createPodDeparture } from "./pod-departure.ts";

function leave(subject: Subject): string[] {
  const told: string[] = [];
  const keeper = (name: string) => ({ forget: (uid: string) => void told.push(`${name} forgets ${uid}`) });
  const depart = createPodDeparture({
    onFinished: ({ metadata }) => void told.push(`finished ${metadata?.uid}`),
    forget: createPodForgetter([keeper("cache"), undefined, keeper("probes")]),
    inbox: { offerGone: (uid) => void told.push(`gone ${uid}`) },
  });
  const last: PodState = {
    phase: "terminated",
    subject,
    fullName: "",
    restartRequested: false,
    deleted: true,
    evicted: false,
    gracePeriodSeconds: 1,
    statusOverride: undefined,
  };
  depart(last);
  return told;
}

it("reports a pod's end before it is forgotten, and tells the loop last", () => {
  const pod: Pod = { metadata: { uid: "1" }, spec: { containers: [] } };
  expect(leave({ kind: "pod", pod })).toEqual(["finished 1", "cache forgets 1", "probes forgets 1", "gone 1"]);
});

it("reports nothing of an orphan, which no source has named", () => {
  const pod = { uid: "2", name: "", namespace: "", sandboxes: [], containers: [] };
  expect(leave({ kind: "orphan", pod })).toEqual(["cache forgets 2", "probes forgets 2", "gone 2"]);
});
