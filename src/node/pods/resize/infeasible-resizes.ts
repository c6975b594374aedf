import type { Pod } from "../../../api/gen/types.ts";
import type { FeatureGates } from "../../../config/feature-gates.ts";
import type { SizingFacts } from "../../resources/sizes/sizing-facts.ts";
import { createOwnedResizeRule, type OwnedResources } from "./owned-resources-resize.ts";
import { findSwapResize } from "./swap-resize.ts";

/** Returns why the pod can never have what it asks for; undefined: nothing is against it. */
export type InfeasibleRule = (pod: Pod, granted: Pod) => InfeasibleResize | undefined;

interface InfeasibleResize {
  readonly reason: "Infeasible";
  readonly message: string;
  /** Upstream's word for it in metrics. */
  readonly detail: string;
}

/** Joins the rules of this node, in upstream's order. */
export function createInfeasibleResizes(owned: OwnedResources, node: SizingFacts, gates: FeatureGates): InfeasibleRule {
  const findOwned = createOwnedResizeRule(owned, gates);
  return (pod: Pod, granted: Pod) => findSwapResize(pod, granted, node) ?? findOwned(pod, granted);
}
