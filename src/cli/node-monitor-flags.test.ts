import { Command } from "commander";
import { expect, test } from "vitest";
import { NODE_MONITOR_DEFAULTS } from "../control-plane/node-lifecycle/monitor-settings.ts";
import { addNodeMonitorFlags, type NodeMonitorFlags, readNodeMonitorFlags } from "./node-monitor-flags.ts";

function read(...flags: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addNodeMonitorFlags(command);
  command.parse(flags, { from: "user" });
  return readNodeMonitorFlags(command.opts<NodeMonitorFlags>());
}

test("without flags nodes are watched over as upstream does by default", () => {
  expect(read()).toEqual(NODE_MONITOR_DEFAULTS);
});

test("each flag sets what it is named after", () => {
  const set = read(
    "--node-monitor-period=2s",
    "--node-monitor-grace-period=20s",
    "--node-startup-grace-period=1m30s",
    "--node-eviction-rate=1",
    "--secondary-node-eviction-rate=0",
    "--large-cluster-size-threshold=3",
    "--unhealthy-zone-threshold=0.7",
  );
  expect(set).toEqual({
    periodMs: 2_000,
    graceMs: 20_000,
    startupGraceMs: 90_000,
    evictionRate: 1,
    secondaryEvictionRate: 0,
    largeClusterSize: 3,
    unhealthyShare: 0.7,
  });
});

test.each([
  ["--node-monitor-grace-period=50", "must be a duration"],
  ["--node-monitor-period=0", "must be a duration"],
  ["--node-eviction-rate=-1", "must be a number"],
  ["--unhealthy-zone-threshold=2", "from 0 to 1"],
])("%s is refused", (flag, message) => {
  expect(() => read(flag)).toThrow(message);
});
