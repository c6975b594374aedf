import type { Node } from "../../api/gen/types.ts";
import { NODE_LABELS } from "../../api/node-names.ts";
import { readinessOf } from "./node-conditions.ts";

/** The part of a node on which the state of its zone depends. */
export interface ZoneMember {
  readonly zone: string;
  readonly isReady: boolean;
  /** True for a node that is meant to come and go, whose presence says nothing about its zone. */
  readonly isExcluded: boolean;
}

type ZoneState = "Normal" | "PartialDisruption" | "FullDisruption";

const EXCLUSION_LABEL = "node.kubernetes.io/exclude-disruption";
/** The share of nodes that are not ready from which a zone is partially disrupted (`--unhealthy-zone-threshold`). */
const UNHEALTHY_SHARE = 0.55;
/** A zone is partially disrupted only when at least this many of its nodes are not ready, however small it is. */
const MIN_UNHEALTHY = 3;

/** The node as a member of its zone. */
export function zoneMemberOf(node: Node): ZoneMember {
  const { labels = {} } = node.metadata ?? {};
  const region = labels[NODE_LABELS.region] ?? "";
  const zone = labels[NODE_LABELS.zone] ?? "";
  return {
    zone: `${region}/${zone}`,
    isReady: readinessOf(node) === "True",
    isExcluded: Object.hasOwn(labels, EXCLUSION_LABEL),
  };
}

/** The state of each zone (`ComputeZoneState`). */
export function computeZoneStates(members: Iterable<ZoneMember>): ReadonlyMap<string, ZoneState> {
  const counts = new Map<string, { ready: number; unready: number }>();
  for (const { zone, isReady, isExcluded } of members) {
    if (isExcluded) continue;
    const count = counts.get(zone) ?? { ready: 0, unready: 0 };
    counts.set(zone, count);
    if (isReady) count.ready += 1;
    else count.unready += 1;
  }
  return new Map([...counts].map(([zone, { ready, unready }]) => [zone, stateOf(ready, unready)]));
}

function stateOf(ready: number, unready: number): ZoneState {
  if (ready === 0 && unready > 0) return "FullDisruption";
  const isUnhealthy = unready >= MIN_UNHEALTHY && unready / (ready + unready) >= UNHEALTHY_SHARE;
  return isUnhealthy ? "PartialDisruption" : "Normal";
}

/** True when no zone has a ready node. It is more likely then that the network, or this process, fails. */
export function isAllDisrupted(states: ReadonlyMap<string, ZoneState>): boolean {
  return states.size > 0 && [...states.values()].every((state) => state === "FullDisruption");
}
