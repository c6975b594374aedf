import type { Node } from "../../api/gen/types.ts";
import { NODE_LABELS } from "../../api/node-names.ts";
import type { NodeMonitorSettings } from "./monitor-settings.ts";
import { readinessOf } from "./node-conditions.ts";

/** The part of a node on which the state of its zone depends. */
export interface ZoneMember {
  readonly zone: string;
  readonly isReady: boolean;
  /** True for a node that is meant to come and go, whose presence says nothing about its zone. */
  readonly isExcluded: boolean;
}

/** A zone: how it is, and how many nodes it has that count. */
interface Zone {
  readonly state: "Normal" | "PartialDisruption" | "FullDisruption";
  readonly size: number;
}

const EXCLUSION_LABEL = "node.kubernetes.io/exclude-disruption";
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

/** The zones; from `unhealthyShare` of its nodes on, one is partially disrupted (`ComputeZoneState`). */
export function computeZones(
  members: Iterable<ZoneMember>,
  { unhealthyShare }: Pick<NodeMonitorSettings, "unhealthyShare">,
): ReadonlyMap<string, Zone> {
  const counts = new Map<string, { ready: number; unready: number }>();
  for (const { zone, isReady, isExcluded } of members) {
    if (isExcluded) continue;
    const count = counts.get(zone) ?? { ready: 0, unready: 0 };
    counts.set(zone, count);
    if (isReady) count.ready += 1;
    else count.unready += 1;
  }
  const stateOf = (ready: number, unready: number) => {
    if (ready === 0 && unready > 0) return "FullDisruption";
    const isUnhealthy = unready >= MIN_UNHEALTHY && unready / (ready + unready) >= unhealthyShare;
    return isUnhealthy ? "PartialDisruption" : "Normal";
  };
  return new Map(
    [...counts].map(([zone, { ready, unready }]) => [zone, { state: stateOf(ready, unready), size: ready + unready }]),
  );
}

/**
 * How many nodes of the zone may be given up a second. A partially disrupted zone is evicted slowly where it is large, and
 * not at all where it is small, because there it is more likely that the network fails (`ReducedQPSFunc`).
 */
export function evictionRateOf({ state, size }: Zone, settings: NodeMonitorSettings): number {
  if (state !== "PartialDisruption") return settings.evictionRate;
  return size > settings.largeClusterSize ? settings.secondaryEvictionRate : 0;
}

/** True when no zone has a ready node. It is more likely then that the network, or this process, fails. */
export function isAllDisrupted(zones: ReadonlyMap<string, Zone>): boolean {
  return zones.size > 0 && [...zones.values()].every(({ state }) => state === "FullDisruption");
}
