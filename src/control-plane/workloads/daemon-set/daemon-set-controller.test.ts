import { describe, expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { DaemonSetSpec, PodSpec, Taint } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { targetNodeOf } from "./daemon-pod.ts";
import { createDaemonSetController } from "./daemon-set-controller.ts";

const SETS = "daemonsets.apps";
const labels = { app: "agent" };
const templateOf = (image: string, spec: Partial<PodSpec> = {}) => {
  return { metadata: { labels }, spec: { containers: [{ name: "c", image }], ...spec } };
};
const node = (name: string, { taints = [], ...more }: { taints?: Taint[]; zone?: string } = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { zone: more.zone ?? "x" } },
  spec: { taints },
});

function setOf(spec: Partial<DaemonSetSpec>): KubeObject {
  const defaults = {
    selector: { matchLabels: labels },
    template: templateOf("v1"),
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 1,
  };
  const metadata = { name: "agent", namespace: "a", uid: "set-uid" };
  return untyped({ apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { ...defaults, ...spec } });
}

async function setUp(spec: Partial<DaemonSetSpec> = {}, nodes = [node("n1"), node("n2"), node("n3")]) {
  const bench = createControllerBench();
  const { reader, writer, clock } = bench;
  for (const made of nodes) await bench.create("nodes", made);
  bench.start(createDaemonSetController(bench.deps));
  await bench.create(SETS, setOf(spec));
  await clock.settle();
  let current = spec;
  const pods = () => reader.list("pods", "a").map((pod) => typed("Pod", pod));
  const report = async (name: string | undefined, { phase = "Running", ready = "True" } = {}) => {
    const pod = reader.get({ resource: "pods", namespace: "a", name: name ?? "" });
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    const conditions = [{ type: "Ready", status: ready, lastTransitionTime: new Date(clock.now()).toISOString() }];
    await writer.update("pods", { ...pod, status: { phase, conditions } }, "status");
    await clock.settle();
  };
  return Object.assign(bench, {
    pods,
    report,
    status: () => typed("DaemonSet", reader.get({ resource: SETS, namespace: "a", name: "agent" }) ?? setOf({})).status,
    /** What runs where: `n1 v1`. */
    placed: () =>
      pods()
        .map((pod) => `${targetNodeOf(pod)} ${pod.spec?.containers[0]?.image}`)
        .sort(),
    async readyAll() {
      for (let turn = 0; turn < 20; turn++) {
        const waiting = pods().find((pod) => pod.status?.phase !== "Running");
        if (waiting === undefined) return;
        await report(waiting.metadata.name);
      }
    },
    async change(changes: Partial<DaemonSetSpec>) {
      current = { ...current, ...changes };
      await writer.update(SETS, setOf(current));
      await clock.settle();
    },
  });
}

const taint = (key: string, effect: string): Taint => ({ key, effect });

describe("a daemon set", () => {
  test("has a pod for each node, which the scheduler can bind to that node only", async () => {
    const { placed, pods, status, readyAll } = await setUp();
    expect(placed()).toEqual(["n1 v1", "n2 v1", "n3 v1"]);
    const required = pods()[0]?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    expect(required?.nodeSelectorTerms).toEqual([
      { matchFields: [{ key: "metadata.name", operator: "In", values: [expect.stringMatching(/^n\d$/)] }] },
    ]);
    expect(pods()[0]?.spec?.tolerations?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      "node.kubernetes.io/not-ready:NoExecute",
      "node.kubernetes.io/unreachable:NoExecute",
      "node.kubernetes.io/disk-pressure:NoSchedule",
      "node.kubernetes.io/memory-pressure:NoSchedule",
      "node.kubernetes.io/pid-pressure:NoSchedule",
      "node.kubernetes.io/unschedulable:NoSchedule",
    ]);
    await readyAll();
    expect(status()).toEqual({
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 3,
      numberAvailable: 3,
    });
  });

  test("follows nodes that come, change and go", async () => {
    const { placed, create, writer, clock, status } = await setUp({}, [node("n1")]);
    await create("nodes", node("n2"));
    await clock.settle();
    expect(placed()).toEqual(["n1 v1", "n2 v1"]);
    await writer.update("nodes", node("n1", { taints: [taint("full", "NoSchedule")] }));
    await clock.settle();
    // A pod that is there may stay.
    expect(placed()).toEqual(["n1 v1", "n2 v1"]);
    expect(status()).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 });
    await writer.update("nodes", node("n1", { taints: [taint("leave", "NoExecute")] }));
    await clock.settle();
    expect(placed()).toEqual(["n2 v1"]);
    await writer.remove({ resource: "nodes", namespace: "", name: "n2" });
    await clock.settle();
    expect(placed()).toEqual([]);
  });

  test.each<[string, Partial<PodSpec>, string[]]>([
    ["its selector", { nodeSelector: { zone: "y" } }, ["n2"]],
    ["its name", { nodeName: "n1" }, ["n1"]],
    ["its tolerations", { tolerations: [{ key: "gpu", operator: "Exists" }] }, ["n1", "n2", "n3"]],
    ["nothing", {}, ["n1", "n2"]],
  ])("goes by %s", async (_case, pod, expected) => {
    const nodes = [node("n1"), node("n2", { zone: "y" }), node("n3", { taints: [taint("gpu", "NoSchedule")] })];
    const { placed } = await setUp({ template: templateOf("v1", pod) }, nodes);
    expect(placed()).toEqual(expected.map((name) => `${name} v1`));
  });

  test("makes a pod that failed anew, at first at once and then with back-off", async () => {
    const { pods, report, clock } = await setUp({}, [node("n1")]);
    const fail = async () => {
      const name = pods()[0]?.metadata.name;
      await report(name, { phase: "Failed", ready: "False" });
      return name;
    };
    const first = await fail();
    expect(pods()[0]?.metadata.name).not.toBe(first);
    const second = await fail();
    expect(pods()[0]?.metadata.name).toBe(second);
    await clock.advance(1_000);
    expect(pods()[0]?.metadata.name).not.toBe(second);
    expect(pods()).toHaveLength(1);
  });

  test("has one pod a node: the oldest stays", async () => {
    const { pods, create, clock } = await setUp({}, [node("n1")]);
    const [only] = pods();
    if (only === undefined) throw new Error("there is no pod");
    const { name: _name, uid: _uid, resourceVersion: _version, ...metadata } = only.metadata;
    await clock.advance(1_000);
    await create("pods", { ...untyped(only), metadata: { ...metadata, name: "z-second" } });
    await clock.settle();
    expect(pods().map((pod) => pod.metadata.name)).toEqual([only.metadata.name]);
  });
});

describe("an update of a daemon set", () => {
  test("replaces as many pods as may be missing", async () => {
    const { change, placed, readyAll, pods, report, names } = await setUp();
    await readyAll();
    await change({ template: templateOf("v2") });
    expect(placed()).toEqual(expect.arrayContaining(["n1 v2"]));
    expect(placed().filter((line) => line.endsWith("v1"))).toHaveLength(2);
    await report(pods().find(({ status }) => status?.phase !== "Running")?.metadata.name);
    expect(placed().filter((line) => line.endsWith("v1"))).toHaveLength(1);
    await readyAll();
    expect(placed()).toEqual(["n1 v2", "n2 v2", "n3 v2"]);
    expect(names("controllerrevisions.apps")).toHaveLength(2);
    await change({ template: templateOf("v3") });
    await readyAll();
    expect(names("controllerrevisions.apps")).toHaveLength(2);
  });

  test("adds a new pod before it takes the old one away, if the set surges", async () => {
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
    const { change, placed, readyAll, clock } = await setUp({ updateStrategy, minReadySeconds: 5 });
    await readyAll();
    await clock.advance(5_000);
    await change({ template: templateOf("v2") });
    expect(placed()).toEqual(["n1 v1", "n1 v2", "n2 v1", "n3 v1"]);
    await readyAll();
    expect(placed()).toHaveLength(4);
    await clock.advance(5_000);
    expect(placed()).toEqual(["n1 v2", "n2 v1", "n2 v2", "n3 v1"]);
    for (let turn = 0; turn < 4; turn++) {
      await readyAll();
      await clock.advance(5_000);
    }
    expect(placed()).toEqual(["n1 v2", "n2 v2", "n3 v2"]);
  });

  test("is left to whoever deletes the pods, if the set says so", async () => {
    const { change, placed, readyAll, pods, writer, clock } = await setUp({ updateStrategy: { type: "OnDelete" } });
    await readyAll();
    await change({ template: templateOf("v2") });
    expect(placed()).toEqual(["n1 v1", "n2 v1", "n3 v1"]);
    const second = pods().find((pod) => targetNodeOf(pod) === "n2");
    await writer.remove({ resource: "pods", namespace: "a", name: second?.metadata.name ?? "" });
    await clock.settle();
    expect(placed()).toEqual(["n1 v1", "n2 v2", "n3 v1"]);
  });
});

test("a daemon set comes to what it should be although writes fail", async () => {
  const bench = await setUp();
  let turn = 0;
  bench.refuse = ({ resource, subresource }) => {
    turn += 1;
    const isNode = resource === "pods" && subresource === "status";
    return !isNode && resource !== "events" && turn % 3 === 0 ? new ApiError("InternalError", "no") : undefined;
  };
  await bench.change({ template: templateOf("v2") }).catch(() => bench.change({ template: templateOf("v2") }));
  for (let round = 0; round < 10; round++) {
    await bench.readyAll();
    await bench.clock.advance(60_000);
  }
  expect(bench.placed()).toEqual(["n1 v2", "n2 v2", "n3 v2"]);
  expect(bench.status()).toMatchObject({ numberReady: 3, updatedNumberScheduled: 3 });
});
