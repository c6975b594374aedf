import { MINUTE, SECOND } from "../../base/clock.ts";

/** How nodes are watched over, with the names and meanings of kube-controller-manager's flags. */
export interface NodeMonitorSettings {
  /**
   * When all nodes fail, they fail one after the other: within this time it is not known whether all of them are affected
   * (`--node-monitor-period`).
   */
  readonly periodMs: number;
  /** A node that is silent for longer is not ready (`--node-monitor-grace-period`). */
  readonly graceMs: number;
  /** The same for a node that has never reported (`--node-startup-grace-period`). */
  readonly startupGraceMs: number;
  /** How many nodes of a zone are given up a second (`--node-eviction-rate`); 0: none. */
  readonly evictionRate: number;
  /** The same for a large zone that is partially disrupted (`--secondary-node-eviction-rate`); a small one loses none. */
  readonly secondaryEvictionRate: number;
  /** A zone of more nodes is large (`--large-cluster-size-threshold`). */
  readonly largeClusterSize: number;
  /** The share of nodes that are not ready from which a zone is partially disrupted (`--unhealthy-zone-threshold`). */
  readonly unhealthyShare: number;
}

/** Upstream's defaults. */
export const NODE_MONITOR_DEFAULTS: NodeMonitorSettings = {
  periodMs: 5 * SECOND,
  graceMs: 50 * SECOND,
  startupGraceMs: MINUTE,
  evictionRate: 0.1,
  secondaryEvictionRate: 0.01,
  largeClusterSize: 50,
  unhealthyShare: 0.55,
};
