import { type Command, Option } from "commander";
import { formatDuration } from "../config/duration.ts";
import { NODE_MONITOR_DEFAULTS, type NodeMonitorSettings } from "../control-plane/node-lifecycle/monitor-settings.ts";
import { readAmount, readDuration, readUnitShare } from "./flag-values.ts";

/** What commander reads of the flags about silent nodes. */
export interface NodeMonitorFlags {
  nodeMonitorPeriod: number;
  nodeMonitorGracePeriod: number;
  nodeStartupGracePeriod: number;
  nodeEvictionRate: number;
  secondaryNodeEvictionRate: number;
  largeClusterSizeThreshold: number;
  unhealthyZoneThreshold: number;
}

/** Adds the flags of kube-controller-manager that say when a silent node is given up, with its names and defaults. */
export function addNodeMonitorFlags(command: Command): void {
  const { periodMs, graceMs, startupGraceMs, ...defaults } = NODE_MONITOR_DEFAULTS;
  const addDuration = (flags: string, what: string, ms: number) =>
    command.addOption(new Option(flags, what).default(ms, formatDuration(ms)).argParser(readDuration));
  const addNumber = (flags: string, what: string, value: number) =>
    command.addOption(new Option(flags, what).default(value).argParser(readAmount));
  addDuration("--node-monitor-period <duration>", "how long it takes to see whether nodes fail together", periodMs);
  addDuration("--node-monitor-grace-period <duration>", "a node silent for longer is not ready", graceMs);
  addDuration("--node-startup-grace-period <duration>", "the same for a node that never reported", startupGraceMs);
  addNumber("--node-eviction-rate <rate>", "nodes of a zone given up a second", defaults.evictionRate);
  const secondary = "the same in a large zone of which most nodes are not ready";
  addNumber("--secondary-node-eviction-rate <rate>", secondary, defaults.secondaryEvictionRate);
  const large = "a zone of more nodes is large; a small one loses none while most are not ready";
  addNumber("--large-cluster-size-threshold <nodes>", large, defaults.largeClusterSize);
  const share = new Option(
    "--unhealthy-zone-threshold <share>",
    "the share of nodes not ready that makes a zone unhealthy",
  );
  command.addOption(share.default(defaults.unhealthyShare).argParser(readUnitShare));
}

/** The settings that the flags ask for. */
export function readNodeMonitorFlags(flags: NodeMonitorFlags): NodeMonitorSettings {
  return {
    periodMs: flags.nodeMonitorPeriod,
    graceMs: flags.nodeMonitorGracePeriod,
    startupGraceMs: flags.nodeStartupGracePeriod,
    evictionRate: flags.nodeEvictionRate,
    secondaryEvictionRate: flags.secondaryNodeEvictionRate,
    largeClusterSize: flags.largeClusterSizeThreshold,
    unhealthyShare: flags.unhealthyZoneThreshold,
  };
}
