import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { AskedObjects } from "../ports/computed-objects.ts";
import { createResourceMetrics } from "./resource-metrics.ts";
import { createUsageCache } from "./usage-cache.ts";

const AT = "2026-01-01T12:00:00Z";
const signal = new AbortController().signal;
const ALL: AskedObjects = { namespace: "", name: undefined };

const used = (usageNanoCores: number, workingSetBytes: number) => ({
  cpu: { time: AT, usageNanoCores },
  memory: { time: AT, workingSetBytes },
});

const node = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { of: name } },
});

function pod(name: string, nodeName: string, { phase = "Running", annotations = {} } = {}): KubeObject {
  const metadata = { name, namespace: "default", uid: `uid-${name}`, labels: { app: name }, annotations };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName, containers: [] }, status: { phase } };
}

function podSummary(name: string, containers: readonly object[], uid = `uid-${name}`) {
  return { podRef: { name, namespace: "default", uid }, containers };
}

/** A cluster whose nodes answer with these summaries; a node without one does not answer. */
function world(objects: readonly KubeObject[], summaries: Record<string, unknown>) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const reader = {
    list: (resource: string) => objects.filter(({ kind }) => `${kind.toLowerCase()}s` === resource),
    get: ({ resource, name }: { resource: string; name: string }) =>
      objects.find(({ kind, metadata }) => `${kind.toLowerCase()}s` === resource && metadata.name === name),
  };
  const readSummary = async (name: string): Promise<string> => {
    asked.push(name);
    if (summaries[name] === undefined) throw new Error("connection refused");
    return await Promise.resolve(JSON.stringify(summaries[name]));
  };
  const metrics = createResourceMetrics({
    reader,
    clock,
    readUsage: createUsageCache({ readSummary, clock, log: silentLog }),
  });
  const read = async (resource: string, what: AskedObjects) => {
    return (await metrics.get(`${resource}.metrics.k8s.io`)?.read(what, signal)) ?? [];
  };
  return { clock, asked, read };
}

it("shows nodes with what they use and their labels, and leaves out those that do not answer", async () => {
  const { read } = world([node("a"), node("b")], { a: { node: used(1_500_000, 2048 * 1024), pods: [] } });
  expect(await read("nodes", ALL)).toEqual([
    {
      kind: "NodeMetrics",
      apiVersion: "metrics.k8s.io/v1beta1",
      metadata: { name: "a", labels: { of: "a" }, creationTimestamp: expect.any(String) },
      timestamp: AT,
      window: "15s",
      usage: { cpu: "1500u", memory: "2Mi" },
    },
  ]);
});

it("shows the containers of pods, with the labels of the pods", async () => {
  const containers = [
    { name: "main", ...used(1, 1) },
    { name: "side", ...used(2, 4096) },
  ];
  const { read } = world([pod("web", "a")], { a: { node: {}, pods: [podSummary("web", containers)] } });
  expect(await read("pods", { namespace: "default", name: "web" })).toEqual([
    {
      kind: "PodMetrics",
      apiVersion: "metrics.k8s.io/v1beta1",
      metadata: { name: "web", namespace: "default", labels: { app: "web" }, creationTimestamp: expect.any(String) },
      timestamp: AT,
      window: "15s",
      containers: [
        { name: "main", usage: { cpu: "1n", memory: "1" } },
        { name: "side", usage: { cpu: "2n", memory: "4Ki" } },
      ],
    },
  ]);
});

const MAIN = { name: "main", ...used(1, 1) };

it.each<[string, KubeObject, object, number]>([
  ["that runs", pod("web", "a"), podSummary("web", [MAIN]), 1],
  ["that has not begun", pod("web", "a", { phase: "Pending" }), podSummary("web", [MAIN]), 0],
  ["of which its node tells nothing", pod("web", "a"), podSummary("other", [MAIN]), 0],
  ["of which another node tells", pod("web", "b"), podSummary("web", [MAIN]), 0],
  ["that took the name of another", pod("web", "a"), podSummary("web", [MAIN], "uid-before"), 0],
  [
    "that mirrors a static one",
    pod("web", "a", { annotations: { "kubernetes.io/config.mirror": "hash" } }),
    podSummary("web", [MAIN], "hash"),
    1,
  ],
  ["without containers", pod("web", "a"), podSummary("web", []), 0],
  ["with a container not measured yet", pod("web", "a"), podSummary("web", [MAIN, { name: "new" }]), 0],
  ["with amounts that are none", pod("web", "a"), podSummary("web", [{ name: "main", ...used(-1, 0.5) }]), 0],
])("knows a pod %s, or does not", async (_what, stored, told, count) => {
  const { read } = world([stored], { a: { pods: [told] }, b: { pods: [] } });
  expect(await read("pods", ALL)).toHaveLength(count);
});

it.each([[null], [[]], ["text"], [{ pods: "none", node: 1 }], [{ pods: [null, { podRef: [] }] }]])(
  "believes a summary to say nothing that is %j",
  async (summary) => {
    const { read } = world([node("a"), pod("web", "a")], { a: summary });
    expect([...(await read("nodes", ALL)), ...(await read("pods", ALL))]).toEqual([]);
  },
);

it("asks only the nodes that matter, together for all who ask, and again after fifteen seconds", async () => {
  const objects = [node("a"), node("b"), pod("web", "a"), pod("done", "b", { phase: "Succeeded" })];
  const { read, asked, clock } = world(objects, { a: { node: used(1, 1), pods: [podSummary("web", [MAIN])] } });
  await Promise.all([read("pods", ALL), read("pods", ALL), read("nodes", { namespace: "", name: "a" })]);
  expect(asked).toEqual(["a"]);
  await read("nodes", ALL);
  expect(asked).toEqual(["a", "b"]);
  await clock.advance(14_999);
  await read("nodes", ALL);
  expect(asked).toEqual(["a", "b"]);
  await clock.advance(1);
  await read("nodes", ALL);
  expect(asked).toEqual(["a", "b", "a", "b"]);
});
