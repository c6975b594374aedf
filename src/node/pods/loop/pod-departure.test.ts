import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import type { PodState, Subject } from "../workers/pod-state.ts";
import { createPodForgetter } from "./forget-pod.ts";
import { createPodDeparture } from "./pod-departure.ts";

function leave(subject: Subject, wanted?: Pod): string[] {
  const told: string[] = [];
  const keeper = (name: string) => ({ forget: (uid: string) => void told.push(`${name} forgets ${uid}`) });
  const depart = createPodDeparture({
    onFinished: ({ metadata }) => void told.push(`finished ${metadata?.uid}`),
    wanted: () => wanted,
    forgetStatus: keeper("status").forget,
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
  expect(leave({ kind: "pod", pod })).toEqual([
    "finished 1",
    "status forgets 1",
    "cache forgets 1",
    "probes forgets 1",
    "gone 1",
  ]);
});

it("reports nothing of an orphan, which no source has named", () => {
  const pod = { uid: "2", name: "", namespace: "", sandboxes: [], containers: [] };
  expect(leave({ kind: "orphan", pod })).toEqual(["status forgets 2", "cache forgets 2", "probes forgets 2", "gone 2"]);
});

it("keeps what was told of a pod that the API server still has, and forgets it of a static pod", () => {
  const orphan = { uid: "3", name: "", namespace: "", sandboxes: [], containers: [] };
  const leftOf = (source: string) => {
    const metadata = { uid: "3", annotations: { "kubernetes.io/config.source": source } };
    return leave({ kind: "orphan", pod: orphan }, { metadata, spec: { containers: [] } });
  };
  expect(leftOf("api")).toEqual(["cache forgets 3", "probes forgets 3", "gone 3"]);
  expect(leftOf("file")).toContain("status forgets 3");
});
