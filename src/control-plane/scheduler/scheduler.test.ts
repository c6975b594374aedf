import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { createMetrics, type Metrics } from "../../base/metrics.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { type NodeOptions, node, type PodOptions, pod } from "./__fixtures__/objects.ts";
import { createScheduler } from "./scheduler.ts";

const READ = { resource: "pods", namespace: "default" };

function setUp(metrics: Metrics = createMetrics()) {
  const bench = createControllerBench();
  const binds: string[] = [];
  const stop = bench.start(
    createScheduler({
      ...bench.deps,
      metrics,
      async bind(object, nodeName) {
        binds.push(`${object.metadata.name} ${nodeName}`);
        const bound = typed("Pod", object);
        await bench.writer.update(
          "pods",
          untyped({ ...bound, spec: { containers: [], ...bound.spec, nodeName } }),
          "binding",
        );
      },
    }),
  );
  const createPod = async (name: string, options: PodOptions = {}) => {
    await bench.create("pods", untyped(pod({ name, ...options })));
    await bench.clock.settle();
  };
  const createNode = async (options: NodeOptions = {}) => {
    await bench.create("nodes", untyped(node(options)));
    await bench.clock.settle();
  };
  const podOf = (name: string): Pod | undefined => {
    const found = bench.reader.get({ ...READ, name });
    return found && typed("Pod", found);
  };
  const changePod = async (name: string, change: (current: Pod) => Pod, subresource = "spec") => {
    await bench.writer.update("pods", untyped(change(podOf(name) ?? {})), subresource);
    await bench.clock.settle();
  };
  const removePod = async (name: string) => {
    await bench.writer.remove({ ...READ, name }, { gracePeriodSeconds: 0 });
    await bench.clock.settle();
  };
  const nodeOf = (name: string) => podOf(name)?.spec?.nodeName;
  const scheduled = (name: string) => podOf(name)?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  const events = () =>
    bench.reader.list("events").map((event) => `${event["type"]} ${event["reason"]} ${event["message"]}`);
  return Object.assign(bench, {
    stop,
    binds,
    createPod,
    createNode,
    podOf,
    changePod,
    removePod,
    nodeOf,
    scheduled,
    events,
  });
}

const FULL = "0/1 nodes are available: 1 Insufficient cpu.";
const NO_VICTIMS = `${FULL} preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.`;

describe("a pod", () => {
  test("whose claim of devices is still to be made is left as it is, and bound when there is to be none", async () => {
    const { create, createNode, podOf, changePod, events, nodeOf, clock } = setUp();
    await createNode();
    const { spec, ...rest } = pod({ name: "a" });
    const resourceClaims = [{ name: "gpu", resourceClaimTemplateName: "gpu" }];
    await create("pods", untyped({ ...rest, spec: { containers: [], ...spec, resourceClaims } }));
    const before = podOf("a")?.metadata?.resourceVersion;
    await clock.settle();
    expect([podOf("a")?.metadata?.resourceVersion, events()]).toEqual([before, []]);
    await changePod("a", (current) => ({ ...current, status: { resourceClaimStatuses: [{ name: "gpu" }] } }), "status");
    expect(nodeOf("a")).toBe("n1");
  });

  test("is bound as soon as it is there, without waiting for time to pass", async () => {
    const { createNode, createPod, nodeOf, events, clock } = setUp();
    await createNode();
    await createPod("a");
    expect(nodeOf("a")).toBe("n1");
    expect(events()).toEqual(["Normal Scheduled Successfully assigned default/a to n1"]);
    expect(clock.monotonic()).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  test.each<[string, PodOptions]>([
    ["asks for another scheduler", { schedulerName: "mine" }],
    ["has a node", { nodeName: "elsewhere" }],
    ["is gated", { schedulingGates: [{ name: "quota" }] }],
    ["is on its way out", { metadata: { name: "a", namespace: "default", deletionTimestamp: "2026-01-01T00:00:00Z" } }],
    ["has ended", { status: { phase: "Failed" } }],
  ])("is left alone when it %s", async (_case, options) => {
    const { createNode, createPod, binds, events } = setUp();
    await createNode();
    await createPod("a", options);
    expect(binds).toEqual([]);
    expect(events()).toEqual([]);
  });

  test("is bound when its last gate goes", async () => {
    const { createNode, createPod, changePod, nodeOf } = setUp();
    await createNode();
    await createPod("a", { schedulingGates: [{ name: "quota" }] });
    await changePod("a", (current) => ({ ...current, spec: { containers: [], ...current.spec, schedulingGates: [] } }));
    expect(nodeOf("a")).toBe("n1");
  });

  test("that was there before the scheduler is bound too", async () => {
    const { stop, createNode, createPod, deps, start, writer, nodeOf, clock } = setUp();
    await stop();
    await createPod("a");
    await createNode();
    expect(nodeOf("a")).toBeUndefined();
    start(
      createScheduler({
        ...deps,
        bind: async (object, nodeName) => {
          await writer.update("pods", { ...object, spec: { containers: [], nodeName } }, "binding");
        },
      }),
    );
    await clock.settle();
    expect(nodeOf("a")).toBe("n1");
  });
});

describe("a pod that fits nowhere", () => {
  test("says so in its status and in an event, once", async () => {
    const { createNode, createPod, scheduled, events, clock, writes } = setUp();
    await createNode();
    await createPod("a", { requests: { cpu: "9" } });
    const message = `${FULL} preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`;
    expect(scheduled("a")).toMatchObject({ status: "False", reason: "Unschedulable", message });
    expect(events()).toEqual([`Warning FailedScheduling ${message}`]);
    await clock.advance(299_000);
    expect(writes.filter((write) => write.startsWith("update pods"))).toEqual(["update pods/a status"]);
  });

  test.each<[string, (bench: ReturnType<typeof setUp>) => Promise<void>]>([
    ["another pod is gone", ({ removePod }) => removePod("first")],
    [
      "another pod has ended",
      ({ changePod }) => changePod("first", (current) => ({ ...current, status: { phase: "Succeeded" } }), "status"),
    ],
    ["there is another node", ({ createNode }) => createNode({ name: "n2" })],
    [
      "the node grows",
      async ({ writer, clock }) => {
        await writer.update("nodes", untyped(node({ allocatable: { cpu: "8" } })), "status");
        await clock.settle();
      },
    ],
  ])("is bound when %s", async (_case, help) => {
    const bench = setUp();
    await bench.createNode();
    await bench.createPod("first", { requests: { cpu: "4" } });
    await bench.createPod("second", { requests: { cpu: "4" } });
    expect(bench.scheduled("second")?.message).toBe(NO_VICTIMS);
    await bench.clock.advance(1_000);
    await help(bench);
    expect(bench.nodeOf("second")).toMatch(/^n[12]$/);
  });

  test("is tried with each change of a node, and not with its heartbeats", async () => {
    const { createNode, createPod, writer, clock, nodeOf, events } = setUp();
    const tainted = { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] };
    await createNode({ spec: tainted });
    await createPod("a");
    const heartbeat = { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:10Z" }] };
    await clock.advance(10_000);
    await writer.update(
      "nodes",
      untyped(node({ spec: tainted, status: { ...heartbeat, allocatable: { cpu: "4", memory: "8Gi", pods: "110" } } })),
      "status",
    );
    await clock.advance(10_000);
    expect(events()).toHaveLength(1);
    await writer.update("nodes", untyped(node()));
    await clock.settle();
    expect(nodeOf("a")).toBe("n1");
  });

  test("is told to wait where there is no node", async () => {
    const { createPod, createNode, scheduled, nodeOf } = setUp();
    await createPod("a");
    expect(scheduled("a")?.message).toBe("no nodes available to schedule pods");
    await createNode();
    expect(nodeOf("a")).toBe("n1");
  });

  test("is bound when its claim is", async () => {
    const { createNode, createPod, create, writer, clock, scheduled, nodeOf } = setUp();
    const claim = (spec: object, status: object = {}) => {
      return {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data", namespace: "default" },
        spec,
        status,
      };
    };
    await createNode();
    await createPod("a", { volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }] });
    expect(scheduled("a")?.message).toContain('persistentvolumeclaim "data" not found');
    await create("persistentvolumes", { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "v" } });
    await create("persistentvolumeclaims", claim({}));
    await clock.advance(1_000);
    expect(scheduled("a")?.message).toContain("pod has unbound immediate PersistentVolumeClaims");
    await writer.update("persistentvolumeclaims", claim({ volumeName: "v" }));
    await writer.update("persistentvolumeclaims", claim({}, { phase: "Bound" }), "status");
    await clock.advance(1_000);
    expect(nodeOf("a")).toBe("n1");
  });
});

test("many pods at once share the room, the important ones first", async () => {
  const { create, createNode, clock, reader, nodeOf } = setUp();
  await createNode({ allocatable: { cpu: "10" } });
  const names = Array.from({ length: 100 }, (_, index) => `p${String(index).padStart(2, "0")}`);
  await Promise.all(
    names.map((name, index) =>
      create("pods", untyped(pod({ name, requests: { cpu: "1" }, priority: index >= 90 ? 5 : 0 }))),
    ),
  );
  await clock.settle();
  const bound = reader.list("pods").filter(({ metadata }) => nodeOf(metadata.name ?? "") === "n1");
  expect(bound.map(({ metadata }) => metadata.name)).toEqual(names.slice(90));
});

describe("an important pod", () => {
  test("has others make room, and takes it when they are gone", async () => {
    const { createNode, createPod, podOf, removePod, nodeOf, events, clock } = setUp();
    await createNode();
    await createPod("victim", { requests: { cpu: "4" } });
    await createPod("important", { requests: { cpu: "2" }, priority: 1_000 });
    expect(podOf("important")?.status?.nominatedNodeName).toBe("n1");
    expect(podOf("victim")).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 30 },
      status: { conditions: [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }] },
    });
    expect(events()).toContain("Normal Preempted Preempted by pod uid-important on node n1");
    // The room is promised, so that no less important pod takes it.
    await createPod("late", { requests: { cpu: "3" } });
    await clock.advance(30_000);
    await removePod("victim");
    expect([nodeOf("important"), nodeOf("late")]).toEqual(["n1", undefined]);
  });

  test("asks again when it could not have them make room", async () => {
    const bench = setUp();
    await bench.createNode();
    await bench.createPod("victim", { requests: { cpu: "4" } });
    bench.refuse = ({ verb }) => (verb === "delete" ? new ApiError("ServiceUnavailable", "busy") : undefined);
    await bench.createPod("important", { requests: { cpu: "2" }, priority: 1_000 });
    bench.refuse = () => undefined;
    await bench.clock.advance(20_000);
    expect(bench.podOf("victim")?.metadata?.deletionTimestamp).toBeDefined();
  });
});

describe("a binding that fails", () => {
  test("is tried again after a while, and gives its room back meanwhile", async () => {
    const bench = setUp();
    await bench.createNode();
    bench.refuse = ({ subresource, object }) => {
      return subresource === "binding" && object.metadata.name === "a"
        ? new ApiError("ServiceUnavailable", "busy")
        : undefined;
    };
    await bench.createPod("a", { requests: { cpu: "4" } });
    await bench.createPod("b", { requests: { cpu: "4" } });
    expect([bench.nodeOf("a"), bench.nodeOf("b")]).toEqual([undefined, "n1"]);
    bench.refuse = () => undefined;
    await bench.removePod("b");
    await bench.clock.advance(1_000);
    expect(bench.nodeOf("a")).toBe("n1");
    expect(bench.events()).toContain("Warning FailedScheduling busy");
  });

  test("because somebody else was faster is no failure", async () => {
    const bench = setUp();
    await bench.createNode();
    bench.refuse = ({ subresource }) => {
      if (subresource !== "binding") return undefined;
      bench.refuse = () => undefined;
      void bench.changePod("a", (pod) => ({ ...pod, spec: { containers: [], ...pod.spec, nodeName: "n2" } }));
      return new ApiError("Conflict", "already assigned");
    };
    await bench.createPod("a");
    await bench.clock.advance(60_000);
    expect(bench.binds).toEqual(["a n1"]);
    expect(bench.events()).toEqual([]);
  });

  test.each(["Conflict", "NotFound"] as const)("with %s is tried again while it has no node", async (reason) => {
    const bench = setUp();
    await bench.createNode();
    bench.refuse = ({ subresource }) =>
      subresource === "binding" ? new ApiError(reason, "denied by a webhook") : undefined;
    await bench.createPod("a");
    expect(bench.nodeOf("a")).toBeUndefined();
    bench.refuse = () => undefined;
    await bench.clock.advance(1_000);
    expect(bench.nodeOf("a")).toBe("n1");
    expect(bench.events()).toContain("Warning FailedScheduling denied by a webhook");
  });

  test("by a bug ends the scheduler", async () => {
    const bench = createControllerBench();
    const scheduler = createScheduler({
      ...bench.deps,
      bind: () => Promise.reject(new TypeError("no such thing")),
    });
    const run = scheduler.run(new AbortController().signal);
    const ended = expect(run).rejects.toThrow("no such thing");
    await bench.create("nodes", untyped(node()));
    await bench.create("pods", untyped(pod({ name: "a" })));
    await ended;
    expect(bench.clock.pendingTimers).toBe(0);
  });
});

test("the scheduler counts its attempts, and what waits for another", async () => {
  const metrics = createMetrics();
  const { createNode, createPod, clock } = setUp(metrics);
  await createPod("a", { requests: { cpu: "1" } });
  await clock.advance(3_000);
  await createNode({ allocatable: { cpu: "2" } });
  await createPod("b", { requests: { cpu: "3" } });
  await clock.settle();
  const text = await metrics.render();
  for (const line of [
    'scheduler_schedule_attempts_total{result="unschedulable",profile="default-scheduler"} 2',
    'scheduler_schedule_attempts_total{result="scheduled",profile="default-scheduler"} 1',
    'scheduler_scheduling_attempt_duration_seconds_count{result="scheduled",profile="default-scheduler"} 1',
    "scheduler_scheduling_algorithm_duration_seconds_count 3",
    'scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="2"} 3',
    "scheduler_pod_scheduling_attempts_sum 2",
    'scheduler_pending_pods{queue="unschedulable"} 1',
    'scheduler_pending_pods{queue="active"} 0',
    "scheduler_preemption_attempts_total 1",
    "scheduler_preemption_victims_count 0",
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
