import type { Cluster, NodeInfo, PendingPod } from "../cluster.ts";
import { filterDeclaredFeatures } from "./declared-features.ts";
import { filterDevices } from "./devices.ts";
import type { ClusterChange, CreateFilter, NodeFilter, NodeRejection } from "./filter.ts";
import { filterPodAffinity } from "./inter-pod-affinity.ts";
import { filterPorts, filterResources } from "./node-capacity.ts";
import { filterNodeAffinity, filterTaints, filterUnschedulable } from "./node-state.ts";
import { filterSpread } from "./topology-spread.ts";
import { filterVolumeLimits } from "./volume-limits.ts";
import { filterVolumeRestrictions } from "./volume-restrictions.ts";
import { filterVolumeZones } from "./volume-zones.ts";
import { filterVolumes } from "./volumes.ts";

interface FilterRow {
  /** The name of upstream's plugin. */
  readonly plugin: string;
  readonly create: CreateFilter;
  /** The changes after which a pod that this filter turned down may fit. */
  readonly helpedBy: readonly ClusterChange[];
}

/**
 * The filters in upstream's order. Users see the order, because a node's reason is that of the first filter that it
 * fails.
 */
const FILTERS: readonly FilterRow[] = [
  { plugin: "NodeUnschedulable", create: filterUnschedulable, helpedBy: ["node"] },
  { plugin: "TaintToleration", create: filterTaints, helpedBy: ["node"] },
  { plugin: "NodeAffinity", create: filterNodeAffinity, helpedBy: ["node"] },
  { plugin: "NodePorts", create: filterPorts, helpedBy: ["node", "pod-gone"] },
  { plugin: "NodeResourcesFit", create: filterResources, helpedBy: ["node", "pod-gone"] },
  { plugin: "VolumeRestrictions", create: filterVolumeRestrictions, helpedBy: ["pod-gone", "storage"] },
  { plugin: "NodeVolumeLimits", create: filterVolumeLimits, helpedBy: ["pod-gone", "storage"] },
  { plugin: "VolumeBinding", create: filterVolumes, helpedBy: ["node", "storage"] },
  { plugin: "VolumeZone", create: filterVolumeZones, helpedBy: ["node", "storage"] },
  { plugin: "PodTopologySpread", create: filterSpread, helpedBy: ["node", "pod-gone", "pod-changed"] },
  { plugin: "InterPodAffinity", create: filterPodAffinity, helpedBy: ["node", "pod-gone", "pod-changed", "namespace"] },
  { plugin: "DynamicResources", create: filterDevices, helpedBy: ["node", "device"] },
  { plugin: "NodeDeclaredFeatures", create: filterDeclaredFeatures, helpedBy: ["node"] },
];

/** The rejection of a node, with the filter that it comes from. */
export interface FilteredOut extends NodeRejection {
  /** The name of the filter's plugin. */
  readonly plugin: string;
  readonly helpedBy: readonly ClusterChange[];
}

/** Combines all filters for one pod in one state of the cluster. */
export function createNodeFilter(pod: PendingPod, cluster: Cluster): (node: NodeInfo) => FilteredOut | undefined {
  const filters = FILTERS.flatMap(({ create, ...row }): (Omit<FilterRow, "create"> & { filter: NodeFilter })[] => {
    const filter = create(pod, cluster);
    return filter === undefined ? [] : [{ ...row, filter }];
  });
  return (node) => {
    for (const { filter, plugin, helpedBy } of filters) {
      const rejection = filter(node);
      if (rejection !== undefined) return { ...rejection, plugin, helpedBy };
    }
    return undefined;
  };
}
