import type { Pod } from "../../../api/gen/types.ts";
import type { SizingFacts } from "../../resources/sizes/sizing-facts.ts";
import { createOwnedResizeRule, type OwnedResizeRule, type OwnedResources } from "./owned-resources-resize.ts";
import { findSwapResize } from "./swap-resize.ts";

/** Joins the rules of this node, in upstream's order. */
export function createInfeasibleResizes(owned: OwnedResources, node: SizingFacts): OwnedResizeRule {
  const findOwned = createOwnedResizeRule(owned);
  return (pod: Pod, granted: Pod) => findSwapResize(pod, granted, node) ?? findOwned(pod, granted);
}
