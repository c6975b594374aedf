import { afterAll, beforeAll, expect, it } from "vitest";
import { startCollector, type TestCollector, type ToldSpan } from "../collector.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";

const RUNTIME = "runtime.v1.RuntimeService";

let collector: TestCollector;
let node: NodeUnderTest;

beforeAll(async () => {
  collector = await startCollector();
  const tracing = { endpoint: `127.0.0.1:${collector.port}`, samplingRatePerMillion: 1_000_000 };
  node = await createNodeUnderTest({ configuration: { tracing } });
  await node.start();
});

afterAll(async () => {
  await node?.destroy();
  await collector?.close();
});

const isReady = (pod: { status?: { phase?: string } }) => pod.status?.phase === "Running";

it("shows a pod's start and its end as trees of spans", async () => {
  await node.write("traced.yaml", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "traced" },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: "main", image: "localhost/nodelet/demo:1", command: ["sleep", "1000"] }],
    },
  });
  const pod = await node.pod("traced", isReady);
  const startOf = (spans: readonly ToldSpan[]) => {
    const roots = spans.filter(
      ({ name, attributes }) => name === "syncPod" && attributes["k8s.pod.name"] === "traced-e2e",
    );
    return roots.find(({ spanId }) => childrenOf(spans, spanId).includes(`${RUNTIME}/StartContainer`));
  };
  const spans = await collector.until((told) => startOf(told) !== undefined);
  const start = startOf(spans);
  expect(start).toMatchObject({
    parentSpanId: "",
    kind: 1,
    attributes: { "k8s.pod.uid": pod.metadata?.uid, "k8s.pod": "default/traced-e2e", "k8s.namespace.name": "default" },
    resource: { "service.name": "kubelet", "host.name": "e2e" },
  });
  expect(childrenOf(spans, start?.spanId ?? "")).toEqual(
    expect.arrayContaining(["RunPodSandbox", "CreateContainer", "StartContainer"].map((rpc) => `${RUNTIME}/${rpc}`)),
  );

  await node.remove("traced.yaml");
  await node.gone("traced");
  const ended = await collector.until((told) => told.some(({ name }) => name === "syncTerminatedPod"));
  const terminating = ended.find(({ name }) => name === "syncTerminatingPod");
  expect(childrenOf(ended, terminating?.spanId ?? "")).toContain(`${RUNTIME}/StopContainer`);
});

it("runs pods while nobody listens, says so once, and stops", async () => {
  await collector.close();
  await node.write("untraced.yaml", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "untraced" },
    spec: { containers: [{ name: "main", image: "localhost/nodelet/demo:1", command: ["sleep", "1000"] }] },
  });
  await node.pod("untraced", isReady);
  await node.logged(/Spans are lost, because the collector/);
  expect(await node.stop()).toBe(0);
  expect(node.log().match(/Spans are lost/g)).toHaveLength(1);
});

function childrenOf(spans: readonly ToldSpan[], spanId: string): string[] {
  return spans.filter(({ parentSpanId }) => parentSpanId === spanId).map(({ name }) => name);
}
