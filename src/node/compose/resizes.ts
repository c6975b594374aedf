import type { Pod } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import type { ResizeReports } from "../pods/podsync/resize-steps.ts";
import { createResizeConditions, type ResizeConditions } from "../pods/resize/resize-conditions.ts";
import { withResources } from "../resources/records/pod-resource-info.ts";
import { openResourceRecords, type ResourceRecords } from "../resources/records/resource-records.ts";
import type { Foundation } from "./foundation.ts";

/** What pods were granted, what they have got of it, and how far that is. */
export interface ResourceParts {
  readonly allocated: ResourceRecords;
  readonly actuated: ResourceRecords;
  readonly conditions: ResizeConditions;
  readonly reports: ResizeReports;
  /** The pod with what it was granted. */
  allocate(pod: Pod): Pod;
  /** Forgets pods that were on the node before this agent came, and are no longer. */
  collect(isKnown: (uid: string) => boolean): void;
}

/** The checkpoints have upstream's names and places. */
export async function composeResources({ ports, config, runner, timeline }: Foundation): Promise<ResourceParts> {
  const { host, log, metrics } = ports;
  const deps = { files: host.files, log, tasks: runner.tasks };
  const allocated = await openResourceRecords(deps, `${config.rootDirectory}/allocated_pods_state`);
  const actuated = await openResourceRecords(deps, `${config.rootDirectory}/actuated_pods_state`);
  const conditions = createResizeConditions({ clock: host.clock, timeline, metrics });
  return {
    allocated,
    actuated,
    conditions,
    reports: { ...conditions, conditionsOf: conditions.of, actuatedOf: actuated.get },
    allocate: (pod) => withResources(pod, allocated.get(podUid(pod))),
    collect(isKnown) {
      allocated.keepOnly(isKnown);
      actuated.keepOnly(isKnown);
    },
  };
}
