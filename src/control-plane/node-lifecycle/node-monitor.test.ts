import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import type { Node, Pod } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { NODE_MONITOR_DEFAULTS, type NodeMonitorSettings } from "./monitor-settings.ts";
import { createNodeMonitor } from "./node-monitor.ts";

const LEASES = "leases.coordination.k8s.io";
const SILENT_TAINTS = ["unreachable:NoSchedule", "unreachable:NoExecute"];

function setUp(settings?: Partial<NodeMonitorSettings>) {
  const bench = createControllerBench();
  const { writer, reader, clock, create } = bench;
  const stop = bench.start(createNodeMonitor(bench.deps, { ...NODE_MONITOR_DEFAULTS, ...settings }));
  const nodeOf = (name: string): Node => {
    const found = reader.get({ resource: "nodes", namespace: "", name });
    if (found === undefined) throw new Error(`there is no node ${name}`);
    return typed("Node", found);
  };
  const ready = (status: string) => {
    const at = formatTime(clock.now());
    return { conditions: [{ type: "Ready", status, lastHeartbeatTime: at, lastTransitionTime: at }] };
  };
  const register = async (name: string, { status = "True", labels = {} } = {}) => {
    const metadata = { name, labels, uid: `uid-${name}` };
    await create("nodes", { apiVersion: "v1", kind: "Node", metadata, spec: {}, status: ready(status) });
    await clock.settle();
  };
  const report = async (name: string, status = "True") => {
    await writer.update("nodes", untyped({ ...nodeOf(name), status: ready(status) }), "status");
    await clock.settle();
  };
  const renew = async (name: string) => {
    const target = { name, namespace: "kube-node-lease" };
    const spec = { renewTime: new Date(clock.now()).toISOString() };
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: target, spec };
    const isThere = reader.get({ resource: LEASES, ...target }) !== undefined;
    await (isThere ? writer.update(LEASES, lease) : create(LEASES, lease));
  };
  /** Lets time pass in which these nodes renew their leases every ten seconds. */
  const passWith = async (seconds: number, ...alive: string[]) => {
    for (let left = seconds; left > 0; left -= 10) {
      for (const name of alive) await renew(name);
      await clock.advance(Math.min(left, 10) * 1_000);
    }
  };
  const readiness = (name: string) => nodeOf(name).status?.conditions?.find(({ type }) => type === "Ready");
  const taints = (name: string) =>
    (nodeOf(name).spec?.taints ?? []).map(({ key, effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`);
  const events = () => reader.list("events").map((event) => `${event["reason"]} ${event["message"]}`);
  return Object.assign(bench, { stop, nodeOf, register, report, renew, passWith, readiness, taints, events });
}

function runningPod(name: string, nodeName: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName, containers: [] },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2025-01-01T00:00:00Z" }],
    },
  };
}

describe("a node of which nothing is heard", () => {
  test("is not ready any more after fifty seconds, says why, and takes no new pods", async () => {
    const { register, clock, readiness, taints, nodeOf, events, passWith } = setUp();
    await register("other");
    await register("silent");
    await passWith(50, "other");
    expect(readiness("silent")).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
      lastHeartbeatTime: "2026-01-01T00:00:00Z",
      lastTransitionTime: "2026-01-01T00:00:50Z",
    });
    expect(nodeOf("silent").status?.conditions?.slice(1)).toMatchObject([
      { type: "MemoryPressure", status: "Unknown", reason: "NodeStatusNeverUpdated" },
      { type: "DiskPressure", status: "Unknown" },
      { type: "PIDPressure", status: "Unknown" },
    ]);
    expect(taints("silent")).toEqual(["unreachable:NoSchedule"]);
    expect(events()).toContain("NodeNotReady Node silent status is now: NodeNotReady");
    await clock.advance(5_000);
    expect(taints("silent")).toEqual(SILENT_TAINTS);
    expect([readiness("other")?.status, taints("other")]).toEqual(["True", []]);
  });

  test("is left alone while its lease is renewed", async () => {
    const { register, passWith, readiness, writes } = setUp();
    await register("n1");
    await passWith(600, "n1");
    expect(readiness("n1")?.status).toBe("True");
    expect(writes.filter((write) => write.startsWith("update nodes"))).toEqual([]);
  });

  test("is left alone while it reports", async () => {
    const { register, report, clock, readiness } = setUp();
    await register("n1");
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(49_000);
      await report("n1");
    }
    expect(readiness("n1")?.status).toBe("True");
  });

  test("is ready again when it reports", async () => {
    const { register, report, passWith, taints } = setUp();
    await register("other");
    await register("n1");
    await passWith(60, "other");
    expect(taints("n1")).toEqual(SILENT_TAINTS);
    await report("n1");
    expect(taints("n1")).toEqual([]);
  });

  test("has a minute for its first report", async () => {
    const { create, clock, nodeOf } = setUp();
    await create("nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "new" }, spec: {}, status: {} });
    await clock.advance(59_999);
    expect(nodeOf("new").status?.conditions).toBeUndefined();
    await clock.advance(1);
    expect(nodeOf("new").status?.conditions).toHaveLength(4);
  });

  test("takes its pods' readiness along, of those too that come later", async () => {
    const { register, clock, create, reader, events, passWith } = setUp();
    await register("other");
    await register("silent");
    await create("pods", untyped(runningPod("there", "silent")));
    await create("pods", untyped(runningPod("elsewhere", "other")));
    await passWith(50, "other");
    await create("pods", untyped(runningPod("late", "silent")));
    await clock.settle();
    const readinessOf = (name: string) => {
      const found = reader.get({ resource: "pods", namespace: "default", name });
      return found && typed("Pod", found).status?.conditions?.[0];
    };
    expect(readinessOf("there")).toMatchObject({ status: "False", lastTransitionTime: "2026-01-01T00:00:50Z" });
    expect(readinessOf("late")?.status).toBe("False");
    expect(readinessOf("elsewhere")?.status).toBe("True");
    expect(events().filter((event) => event === "NodeNotReady Node is not ready")).toHaveLength(2);
  });
});

describe("nobody is blamed for what is ours", () => {
  test("time in which the control plane was down does not count", async () => {
    const { stop, register, clock, start, deps, readiness } = setUp();
    await register("n1");
    await stop();
    await clock.advance(3_600_000);
    start(createNodeMonitor(deps));
    await clock.advance(49_000);
    expect(readiness("n1")?.status).toBe("True");
    await clock.advance(1_000);
    expect(readiness("n1")?.status).toBe("Unknown");
  });

  test.each([86_400_000, -86_400_000])("nor does a jump of the clock by %d ms", async (jump) => {
    const { register, clock, passWith, readiness } = setUp();
    await register("n1");
    await passWith(20, "n1");
    clock.jumpWallClock(jump);
    await passWith(100, "n1");
    expect(readiness("n1")?.status).toBe("True");
  });

  test("nor do writes that failed", async () => {
    const bench = setUp();
    await bench.register("n1");
    bench.refuse = () => new ApiError("InternalError", "disk full");
    await bench.clock.advance(120_000);
    expect(bench.readiness("n1")?.status).toBe("True");
    bench.refuse = () => undefined;
    await bench.passWith(100, "n1");
    expect(bench.readiness("n1")?.status).toBe("True");
  });
});

describe("evictions", () => {
  test("do not happen while no node at all is ready", async () => {
    const { register, clock, taints, report } = setUp();
    await register("n1");
    await register("n2");
    await clock.advance(300_000);
    expect([taints("n1"), taints("n2")]).toEqual([["unreachable:NoSchedule"], ["unreachable:NoSchedule"]]);
    // One node is back, so the other one is the one that is gone.
    await report("n1");
    expect([taints("n1"), taints("n2")]).toEqual([[], SILENT_TAINTS]);
  });

  test("are taken back when the last node goes too", async () => {
    const { register, passWith, clock, taints } = setUp();
    await register("n1");
    await register("n2");
    await passWith(60, "n2");
    expect(taints("n1")).toEqual(SILENT_TAINTS);
    await clock.advance(60_000);
    expect([taints("n1"), taints("n2")]).toEqual([["unreachable:NoSchedule"], ["unreachable:NoSchedule"]]);
  });

  test("of a zone happen node by node", async () => {
    const { register, passWith, taints } = setUp();
    const alive = ["a", "b", "c"];
    for (const name of [...alive, "x", "y"]) await register(name);
    const givenUp = () => ["x", "y"].filter((name) => taints(name).includes("unreachable:NoExecute")).length;
    await passWith(56, ...alive);
    expect(givenUp()).toBe(1);
    await passWith(8, ...alive);
    expect(givenUp()).toBe(1);
    await passWith(1, ...alive);
    expect(givenUp()).toBe(2);
  });

  test("of a zone of which most is gone do not begin", async () => {
    const { register, passWith, taints } = setUp();
    for (const name of ["a", "x", "y", "z"]) await register(name);
    await passWith(300, "a");
    expect(["x", "y", "z"].flatMap(taints)).toEqual(Array.from({ length: 3 }, () => "unreachable:NoSchedule"));
  });
});

test("nodes are registered and removed, and their labels have both names", async () => {
  const { register, writer, clock, events, nodeOf, report, taints } = setUp();
  await register("n1", { labels: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" } });
  expect(nodeOf("n1").metadata?.labels).toMatchObject({
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
  });
  await report("n1", "False");
  expect(taints("n1")).toEqual(["not-ready:NoSchedule"]);
  await writer.remove({ resource: "nodes", namespace: "", name: "n1" });
  await clock.settle();
  expect(events()).toEqual([
    "RegisteredNode Node n1 event: Registered Node n1 in Controller",
    "RemovingNode Node n1 event: Removing Node n1 from Controller",
  ]);
});

describe("by their flags", () => {
  test("a node that never reported, and one that did, have their own times", async () => {
    const { create, register, clock, readiness, nodeOf } = setUp({ graceMs: 20_000, startupGraceMs: 90_000 });
    await register("silent");
    await create("nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "new", uid: "new" }, spec: {} });
    await clock.advance(20_000);
    expect(readiness("silent")?.status).toBe("Unknown");
    await clock.advance(60_000);
    expect(nodeOf("new").status?.conditions).toBeUndefined();
    await clock.advance(10_000);
    expect(readiness("new")?.reason).toBe("NodeStatusNeverUpdated");
  });

  test("of 200 nodes in three zones each zone loses as many as its state and its size allow", async () => {
    const { register, passWith, taints } = setUp();
    const sizes: Readonly<Record<string, [size: number, silent: number]>> = {
      // Large and partially disrupted: one in 100 s. Small and partially disrupted: none. Healthy: one in 10 s.
      large: [100, 60],
      small: [50, 30],
      healthy: [50, 10],
    };
    const zones = Object.entries(sizes).map(([zone, [size, silent]]) => {
      const names = Array.from({ length: size }, (_, index) => `${zone}-${index}`);
      return { zone, names, silent: names.slice(0, silent) };
    });
    for (const { zone, names } of zones) {
      for (const name of names) await register(name, { labels: { "topology.kubernetes.io/zone": zone } });
    }
    const alive = zones.flatMap(({ names, silent }) => names.slice(silent.length));
    // The grace period, the time to settle, and 240 seconds of evictions.
    await passWith(300, ...alive);
    const givenUp = zones.map(({ names }) => names.filter((name) => taints(name).includes("unreachable:NoExecute")));
    expect(givenUp.map(({ length }) => length)).toEqual([3, 0, 10]);
    expect(alive.flatMap(taints)).toEqual([]);
  });
});
