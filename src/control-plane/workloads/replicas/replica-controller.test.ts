import { expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { readyAt, workloadPod } from "../pod-control/__fixtures__/workload-objects.ts";
import { createReplicaSets, createReplicationControllers } from "./replica-controller.ts";

const SETS = "replicasets.apps";
const TEMPLATE = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const replicaSet = (replicas: number, spec: object = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "web", namespace: "a", generation: 1 },
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: TEMPLATE, ...spec },
});

function setUp() {
  const bench = createControllerBench();
  const { reader, writer, clock, deps } = bench;
  const read = () => reader.get({ resource: SETS, namespace: "a", name: "web" });
  return Object.assign(bench, {
    stop: bench.start(createReplicaSets(deps)),
    pods: () => reader.list("pods", "a").map((pod) => typed("Pod", pod)),
    status: () => read()?.["status"],
    async change(spec: object) {
      const { spec: current, metadata, ...rest } = read() ?? replicaSet(0);
      const generation = (metadata.generation ?? 0) + 1;
      const next = { ...rest, metadata: { ...metadata, generation }, spec: { ...Object(current), ...spec } };
      await writer.update(SETS, next);
      await clock.settle();
    },
    /** All pods run, and are ready now. */
    async makeReady() {
      for (const pod of reader.list("pods", "a")) {
        const bound = { ...pod, spec: { ...Object(pod["spec"]), nodeName: "n1" } };
        await writer.update("pods", bound);
        const { resourceVersion: _any, ...metadata } = pod.metadata;
        const conditions = [readyAt(new Date(clock.now()).toISOString())];
        await writer.update("pods", { ...bound, metadata, status: { phase: "Running", conditions } }, "status");
      }
      await clock.settle();
    },
  });
}

test("a replica set makes its pods, counts them, and makes others for those that go", async () => {
  const { create, clock, pods, status, makeReady, writer } = setUp();
  await create(SETS, replicaSet(3));
  await clock.settle();
  expect(pods()).toHaveLength(3);
  expect(pods()[0]?.metadata).toMatchObject({ labels: { app: "web" }, ownerReferences: [{ kind: "ReplicaSet" }] });
  const counts = { replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1, terminatingReplicas: 0 };
  expect(status()).toEqual(counts);
  await makeReady();
  expect(status()).toEqual({ ...counts, readyReplicas: 3, availableReplicas: 3 });
  await writer.remove({ resource: "pods", namespace: "a", name: pods()[0]?.metadata.name ?? "" });
  await clock.settle();
  expect(status()).toMatchObject({ replicas: 3, readyReplicas: 2, terminatingReplicas: 1 });
});

test("a pod that its node refuses is replaced later each time, and not dozens of times a second", async () => {
  const { create, clock, pods, writer } = setUp();
  await create(SETS, replicaSet(1));
  await clock.settle();
  const refuse = async () => {
    for (const pod of pods().filter(({ status }) => status?.phase !== "Failed")) {
      await writer.update("pods", { ...pod, status: { phase: "Failed", reason: "NodePorts" } }, "status");
    }
    await clock.settle();
  };
  for (const waitMs of [1_000, 2_000, 4_000]) {
    await refuse();
    const count = pods().length;
    await clock.advance(waitMs - 1);
    expect(pods()).toHaveLength(count);
    await clock.advance(1);
    expect(pods()).toHaveLength(count + 1);
  }
});

test("fewer replicas take the pods that are missed least, and none takes all", async () => {
  const { create, clock, pods, status, change } = setUp();
  await create("pods", workloadPod("old", { readySince: "2025-12-31T00:00:00Z" }));
  await create("pods", workloadPod("pending", { phase: "Pending", nodeName: "", readySince: undefined }));
  await create(SETS, replicaSet(2));
  await clock.settle();
  expect(status()).toMatchObject({ replicas: 2, readyReplicas: 1 });
  await change({ replicas: 1 });
  expect(pods().map(({ metadata }) => metadata.name)).toEqual(["old"]);
  await change({ replicas: 0 });
  expect(status()).toEqual({ replicas: 0, observedGeneration: 3, terminatingReplicas: 1 });
});

test("a pod that loses its labels is released and replaced", async () => {
  const { create, clock, pods, writer } = setUp();
  await create(SETS, replicaSet(1));
  await clock.settle();
  const [pod] = pods();
  await writer.update("pods", { ...pod, ...workloadPod("x"), metadata: { ...pod?.metadata, labels: { app: "no" } } });
  await clock.settle();
  const owners = pods().map(({ metadata }) => [metadata.labels?.["app"], metadata.ownerReferences?.length ?? 0]);
  expect(owners).toEqual([
    ["no", 0],
    ["web", 1],
  ]);
});

test("what is refused is told in a condition and tried again until it works", async () => {
  const bench = setUp();
  const { create, clock, status, pods } = bench;
  bench.refuse = ({ verb, resource }) => {
    return verb === "create" && resource === "pods" ? new ApiError("Forbidden", "exceeded quota: q") : undefined;
  };
  await create(SETS, replicaSet(4));
  await clock.advance(120_000);
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota: q" };
  expect(status()).toMatchObject({ replicas: 0, conditions: [failure] });
  bench.refuse = () => undefined;
  await clock.advance(60_000);
  expect(pods()).toHaveLength(4);
  expect(status()).not.toHaveProperty("conditions");
});

test("a pod becomes available when its time is over", async () => {
  const { create, clock, status, makeReady, stop } = setUp();
  await create(SETS, replicaSet(1, { minReadySeconds: 30 }));
  await clock.settle();
  await makeReady();
  await clock.advance(29_000);
  expect(status()).not.toHaveProperty("availableReplicas");
  await clock.advance(1_000);
  expect(status()).toMatchObject({ availableReplicas: 1 });
  await stop();
  expect(clock.pendingTimers).toBe(0);
});

test("a replica set that is being deleted makes nothing", async () => {
  const { create, clock, pods, writer } = setUp();
  await create(SETS, { ...replicaSet(2), metadata: { ...replicaSet(2).metadata, finalizers: ["x/y"] } });
  await clock.settle();
  await writer.remove({ resource: SETS, namespace: "a", name: "web" });
  for (const { metadata } of pods())
    await writer.remove({ resource: "pods", namespace: "a", name: metadata.name ?? "" });
  await clock.settle();
  expect(pods()).toEqual([]);
});

test("of the pods of two replica sets of a deployment, the one goes that shares its node with others", async () => {
  const { create, clock, pods, change } = setUp();
  const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name: "d", uid: "d", controller: true }];
  const named = (name: string, app: string, nodeName: string) => {
    return workloadPod(name, { nodeName, metadata: { labels: { app, of: "d" } } });
  };
  for (const pod of [named("p1", "web", "n1"), named("p2", "web", "n2"), named("q", "old", "n2")]) {
    await create("pods", pod);
  }
  const metadata = { ...replicaSet(2).metadata, ownerReferences };
  await create(SETS, { ...replicaSet(2), metadata });
  const old = {
    selector: { matchLabels: { app: "old" } },
    template: { ...TEMPLATE, metadata: { labels: { app: "old" } } },
  };
  await create(SETS, { ...replicaSet(1, old), metadata: { ...metadata, name: "old" } });
  await clock.settle();
  await change({ replicas: 1 });
  expect(
    pods()
      .filter((pod) => pod.metadata.deletionTimestamp)
      .map((pod) => pod.metadata.name),
  ).toEqual(["p2"]);
});

test("a replication controller does the same by its plain selector", async () => {
  const bench = createControllerBench();
  bench.start(createReplicationControllers(bench.deps));
  const spec = { replicas: 2, selector: { app: "web" }, template: TEMPLATE };
  const metadata = { name: "web", namespace: "a", generation: 1 };
  await bench.create("pods", workloadPod("mine"));
  await bench.create("replicationcontrollers", { apiVersion: "v1", kind: "ReplicationController", metadata, spec });
  await bench.clock.settle();
  const [controller] = bench.reader.list("replicationcontrollers", "a");
  const status = {
    replicas: 2,
    fullyLabeledReplicas: 2,
    readyReplicas: 1,
    availableReplicas: 1,
    observedGeneration: 1,
  };
  expect(controller?.["status"]).toEqual(status);
});
