import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createPodGarbageCollector, type PodGarbageCollectorOptions } from "./pod-garbage-collector.ts";

function setUp(options: PodGarbageCollectorOptions = {}) {
  const bench = createControllerBench();
  const { create, writer, clock, reader } = bench;
  bench.start(createPodGarbageCollector(bench.deps, options));
  const createPod = async (name: string, parts: { nodeName?: string; status?: object; metadata?: object } = {}) => {
    const { nodeName, status = { phase: "Running" }, metadata = {} } = parts;
    const spec = nodeName === undefined ? {} : { nodeName };
    await create("pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default", ...metadata },
      spec,
      status,
    });
    await clock.settle();
  };
  const node = (parts: object = {}): KubeObject => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    ...parts,
  });
  const removePod = async (name: string) => {
    await writer.remove({ resource: "pods", namespace: "default", name });
    await clock.settle();
  };
  const names = () => reader.list("pods").map(({ metadata }) => metadata.name);
  return Object.assign(bench, { createPod, node, removePod, podNames: names });
}

describe("pods of a node that does not exist", () => {
  test("fail, and are gone after forty seconds", async () => {
    const { createPod, clock, podNames, feed } = setUp();
    const seen: unknown[] = [];
    await createPod("a", { nodeName: "n1" });
    feed.follow("pods", ({ type, object }) => seen.push({ type, status: object["status"] }));
    await clock.advance(39_999);
    expect(podNames()).toEqual(["a"]);
    await clock.advance(1);
    expect(podNames()).toEqual([]);
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message: "PodGC: node no longer exists",
    };
    expect(seen.slice(1)).toMatchObject([
      { type: "MODIFIED", status: { phase: "Failed", conditions: [condition] } },
      { type: "DELETED" },
    ]);
  });

  test("stay when the node registers in time", async () => {
    const { createPod, create, node, clock, podNames } = setUp();
    await createPod("a", { nodeName: "n1" });
    await clock.advance(30_000);
    await create("nodes", node());
    await clock.advance(100_000);
    expect(podNames()).toEqual(["a"]);
  });

  test("go forty seconds after the node did, however often it came and went", async () => {
    const { createPod, create, writer, node, clock, podNames } = setUp();
    const removeNode = () => writer.remove({ resource: "nodes", namespace: "", name: "n1" });
    await create("nodes", node());
    await createPod("a", { nodeName: "n1" });
    await removeNode();
    await clock.advance(30_000);
    await create("nodes", node());
    await removeNode();
    await clock.advance(39_999);
    expect(podNames()).toEqual(["a"]);
    await clock.advance(1);
    expect(podNames()).toEqual([]);
  });

  test("go although they wait for it to end them, and keep to their finalizers", async () => {
    const { createPod, removePod, clock, podNames, writes } = setUp();
    await createPod("leaving", { nodeName: "n1" });
    await createPod("kept", { nodeName: "n1", metadata: { finalizers: ["example.com/keep"] } });
    await removePod("leaving");
    await clock.advance(400_000);
    expect(podNames()).toEqual(["kept"]);
    expect(writes.filter((write) => write === "delete pods/kept")).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });
});

test("a pod that terminates and has no node fails, and waits for its finalizers only", async () => {
  const { createPod, removePod, reader, writes, clock } = setUp();
  await createPod("a", { status: { phase: "Pending" }, metadata: { finalizers: ["example.com/keep"] } });
  await removePod("a");
  await clock.advance(100_000);
  expect(reader.list("pods")).toMatchObject([{ status: { phase: "Failed" } }]);
  expect(writes).toEqual(["create pods/a", "delete pods/a", "update pods/a status"]);
});

test("pods that terminate on a node that is out of service go at once", async () => {
  const { create, node, createPod, removePod, podNames, writer, clock } = setUp();
  await create("nodes", node());
  await createPod("leaving", { nodeName: "n1" });
  await createPod("staying", { nodeName: "n1" });
  await removePod("leaving");
  expect(podNames()).toEqual(["leaving", "staying"]);
  const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
  await writer.update("nodes", node({ spec: { taints } }));
  await clock.settle();
  expect(podNames()).toEqual(["staying"]);
});

test("of pods that have ended the evicted go first, then the oldest, down to the number that is kept", async () => {
  const { createPod, create, node, podNames, clock } = setUp({ maxTerminated: 2 });
  await create("nodes", node());
  const ended = { nodeName: "n1", status: { phase: "Succeeded" } };
  await createPod("oldest", ended);
  await clock.advance(1_000);
  await createPod("old", ended);
  await clock.advance(1_000);
  await createPod("running", { nodeName: "n1" });
  await createPod("evicted", { nodeName: "n1", status: { phase: "Failed", reason: "Evicted" } });
  expect(podNames()).toEqual(["old", "oldest", "running"]);
  await clock.advance(1_000);
  await createPod("new", ended);
  expect(podNames()).toEqual(["new", "old", "running"]);
});
