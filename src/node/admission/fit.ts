import type { Node, Pod } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import type { Rejection } from "./admission.ts";
import type { FreshNode } from "./fresh-node.ts";
import { findUnmetPredicates, rejectForeignSystem, rejectGroupsPolicy } from "./predicates.ts";

/** Undefined lets the pod in; `undecided`: it is asked about again when more is known. */
export type FitVerdict = Rejection | "undecided" | undefined;

export interface FitDeps {
  /** As it was last seen. */
  node(): Node;
  /** Pods that were let in and are not over. */
  admittedPods(): readonly Pod[];
  supportsSupplementalGroupsPolicy(): boolean;
  /** Undefined: nobody else changes the node. */
  readonly freshNode: Pick<FreshNode, "ask" | "take"> | undefined;
}

/** Whether the node has what the pod wants of it. */
export function createFit(deps: FitDeps): (pod: Pod) => FitVerdict {
  return (pod) => {
    // It was let in by an agent before this one; labels and taints do not end what runs, and neither shall a restart.
    if (pod.status?.phase === "Running") return undefined;
    const foreign = rejectForeignSystem(pod) ?? rejectGroupsPolicy(pod, deps.supportsSupplementalGroupsPolicy());
    if (foreign !== undefined) return foreign;
    const uid = podUid(pod);
    const others = deps.admittedPods().filter((other) => podUid(other) !== uid);
    const fresh = deps.freshNode?.take(uid);
    const unmet = findUnmetPredicates({ pod, node: fresh ?? deps.node(), others });
    const [first] = unmet;
    if (first === undefined) return undefined;
    if (deps.freshNode !== undefined && fresh === undefined && unmet.every(({ isLabelMatter }) => isLabelMatter)) {
      deps.freshNode.ask(uid);
      return "undecided";
    }
    return { reason: first.reason, message: first.message };
  };
}
