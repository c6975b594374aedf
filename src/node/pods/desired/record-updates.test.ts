import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createDesiredPods } from "./desired-pods.ts";
import { recordUpdates } from "./record-updates.ts";

it("records where a pod came from, that its deletion was asked for, and that it is gone", () => {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const desired = recordUpdates(createDesiredPods({ clock, log: silentLog, timeline }, { sources: ["api"] }), timeline);
  const pod = { metadata: { uid: "u", name: "web", namespace: "default" }, spec: { containers: [{ name: "main" }] } };
  const deletion = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
  desired.apply({ source: "api", pods: [pod] });
  desired.apply({ source: "api", pods: [{ ...pod, metadata: { ...pod.metadata, ...deletion } }] });
  desired.apply({ source: "api", pods: [] });
  expect(timeline.read("u").map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
    "PodAdded: Pod was found in the API server",
    "PodDeletionRequested: Deletion of the pod was asked for at 2026-01-01T00:00:00Z, within 30 s",
    "PodRemoved: Pod is not in the API server any more",
  ]);
});
