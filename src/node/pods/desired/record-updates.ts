import type { Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import type { Decision, Timeline } from "../../../base/timeline.ts";
import type { DesiredPods } from "./desired-pods.ts";
import type { PodUpdate } from "./pod-update.ts";

/** Records in the pods' timelines which source brought them, and which one wants them no more. */
export function recordUpdates(desired: DesiredPods, timeline: Pick<Timeline, "record">): DesiredPods {
  return {
    ...desired,
    apply(snapshot) {
      const updates = desired.apply(snapshot);
      for (const update of updates) {
        for (const pod of update.pods) {
          const decision = describeUpdate(update, pod);
          if (decision !== undefined) timeline.record(podReference(pod), decision);
        }
      }
      return updates;
    },
  };
}

/** What each source is called in a sentence. */
const SOURCES = { api: "the API server", file: "a manifest", http: "a URL" } as const;

function describeUpdate({ op, source }: PodUpdate, { metadata }: Pod): Decision | undefined {
  const who = SOURCES[source];
  switch (op) {
    case "ADD":
      return { type: "Normal", reason: "PodAdded", message: `Pod was found in ${who}` };
    case "DELETE": {
      const seconds = metadata?.deletionGracePeriodSeconds;
      const within = seconds === undefined ? "" : `, within ${seconds} s`;
      const message = `Deletion of the pod was asked for at ${metadata?.deletionTimestamp ?? "an unknown time"}${within}`;
      return { type: "Normal", reason: "PodDeletionRequested", message };
    }
    case "REMOVE":
      return { type: "Normal", reason: "PodRemoved", message: `Pod is not in ${who} any more` };
    case "UPDATE":
    case "RECONCILE":
      return undefined;
  }
}
