import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { volumeError } from "../../storage/volumes/volume-error.ts";
import type { Subject, WorkKind } from "../workers/pod-state.ts";
import { createFailureEvents } from "./failure-events.ts";

const pod: Pod = { metadata: { uid: "1", name: "a", namespace: "b" }, spec: { containers: [] } };
const known: Subject = { kind: "pod", pod };
const orphan: Subject = { kind: "orphan", pod: { uid: "2", name: "", namespace: "", sandboxes: [], containers: [] } };
const failed = new Error("no");
const unmounted = volumeError([{ volumeName: "v", error: failed }]);

it.each<[string, Subject, WorkKind, Error, string[]]>([
  ["sync", known, "sync", failed, ["FailedSync: Error syncing pod, will be tried again: no"]],
  ["sync, because of a volume", known, "sync", unmounted, []],
  ["end", known, "terminating", failed, ["FailedKillPod: error killing pod: no"]],
  ["clean-up", known, "terminated", failed, ["FailedSync: Error syncing pod, will be tried again: no"]],
  ["end, of an orphan", orphan, "terminating", failed, []],
])("tells of a failed %s", (_, subject, work, error, expected) => {
  const events: string[] = [];
  const record = createFailureEvents({
    timeline: { record: (_pod, { reason, message }) => void events.push(`${reason}: ${message}`) },
  });
  record({ subject }, work, error);
  expect(events).toEqual(expected);
});
