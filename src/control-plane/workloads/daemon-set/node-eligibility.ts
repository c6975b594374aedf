import type { DaemonSet } from "../../../api/gen/types.ts";
import type { ObjectOf } from "../../../api/object.ts";
import { matchesNodeAffinity } from "../../../api/selectors/node-selector.ts";
import { findUntolerated } from "../../../api/tolerations.ts";
import { daemonSpecOf } from "./daemon-pod.ts";

/** Whether a node is to have a pod of the set, and whether it may keep one that it has. */
export interface NodeEligibility {
  readonly shouldRun: boolean;
  readonly mayContinue: boolean;
}

const NEITHER: NodeEligibility = { shouldRun: false, mayContinue: false };

/** Judges by the name, the labels and the taints of the node. Resources and other pods are the scheduler's matter. */
export function judgeNode(set: DaemonSet, node: ObjectOf<"Node">): NodeEligibility {
  const spec = daemonSpecOf(set);
  const { name = "", labels = {} } = node.metadata;
  if (spec.nodeName && spec.nodeName !== name) return NEITHER;
  if (!matchesNodeAffinity(spec, { name, labels })) return NEITHER;
  const taints = node.spec?.taints ?? [];
  const tolerations = spec.tolerations ?? [];
  return {
    shouldRun: findUntolerated(taints, tolerations, ["NoExecute", "NoSchedule"]) === undefined,
    mayContinue: findUntolerated(taints, tolerations, ["NoExecute"]) === undefined,
  };
}
