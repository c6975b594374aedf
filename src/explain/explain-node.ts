import type { NodeCondition, Pod } from "../api/gen/types.ts";
import { podReference } from "../api/pods.ts";
import type { TimelineRecord } from "../base/timeline.ts";
import { explainPod, isInTrouble } from "./explain-pod.ts";
import type { PodExplanation } from "./explanation.ts";

/** Why pods of a node do not run, and what ails the node. */
export interface NodeExplanation {
  readonly kind: "NodeExplanation";
  readonly version: 1;
  readonly node: string;
  /** The conditions that keep the node from its work. */
  readonly conditions: readonly NodeCondition[];
  /** The pods that wait for something or have failed, without their steps. */
  readonly troubles: readonly PodExplanation[];
  /** How many pods the node has. */
  readonly podCount: number;
}

interface NodeFacts {
  readonly node: string;
  readonly conditions: readonly NodeCondition[];
  readonly pods: readonly Pod[];
  recordsOf(uid: string): readonly TimelineRecord[];
}

/** Says what ails a node and its pods. Pure. */
export function explainNode({ node, conditions, pods, recordsOf }: NodeFacts): NodeExplanation {
  const explained = pods.map((pod) => {
    const { namespace, name, uid } = podReference(pod);
    return { ...explainPod({ namespace, name, pod, records: recordsOf(uid) }), steps: [] };
  });
  const ails = ({ type, status }: NodeCondition) => (type === "Ready" ? status !== "True" : status !== "False");
  const troubles = explained.filter(isInTrouble);
  return {
    kind: "NodeExplanation",
    version: 1,
    node,
    conditions: conditions.filter(ails),
    troubles,
    podCount: pods.length,
  };
}
