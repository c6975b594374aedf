import { expect, it } from "vitest";
import { explainNode } from "../../explain/explain-node.ts";
import { explainPod } from "../../explain/explain-pod.ts";
import type { PageHandler } from "../../host/http-server.ts";
import { createHealthzHandler, createNodeSocketHandler, createReadOnlyHandler, type NodeView } from "./handlers.ts";
import { createHealthChecks } from "./health-checks.ts";

const pod = { metadata: { uid: "uid-1", name: "web", namespace: "default" } };
const problem = { file: "web.yaml", message: "it holds no pod" };
const record = { type: "Normal", reason: "Started", message: "Started container main", pod: pod.metadata } as const;

function createView(overrides: Partial<NodeView> = {}): NodeView {
  return {
    nodeName: "node-1",
    runtime: () => ({ name: "containerd", version: "v2.0.0" }),
    conditions: () => [{ type: "Ready", status: "True" }],
    pods: () => [pod],
    manifestProblems: () => [problem],
    revisionOf: (pods) => `${pods.length}`,
    runningPods: () => [],
    timeline: () => [{ ...record, at: Date.UTC(2026, 0, 1), firstAt: 0, count: 2 }],
    explainer: {
      pod: async ({ namespace, name }) => explainPod({ namespace, name, pod: undefined, records: [] }),
      node: () => explainNode({ node: "node-1", conditions: [], pods: [], recordsOf: () => [] }),
    },
    health: createHealthChecks({ ping: () => undefined, syncloop: () => undefined }, { startedAt: 0 }),
    metrics: async () => ({ contentType: "text/plain; version=0.0.4", text: "kubelet_running_pods 1\n" }),
    statistics: { "/stats/summary": async ({ query }) => ({ status: 200, body: `summary ${query}` }) },
    ...overrides,
  };
}

async function ask(handler: PageHandler, path: string, method = "GET", query = "") {
  return await handler({ method, path, query: new URLSearchParams(query) });
}

const handlers = {
  healthz: createHealthzHandler(createView()),
  readOnly: createReadOnlyHandler(createView()),
  socket: createNodeSocketHandler(createView()),
};
const list = (items: object[]) => JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: {}, items });

it.each<[keyof typeof handlers, string, number, string]>([
  ["healthz", "/healthz", 200, "ok"],
  ["healthz", "/pods", 404, "404 page not found\n"],
  ["healthz", "/", 404, "404 page not found\n"],
  ["healthz", "/__proto__", 404, "404 page not found\n"],
  ["readOnly", "/healthz", 200, "ok"],
  ["readOnly", "/healthz/ping", 200, "ok"],
  ["readOnly", "/healthz/syncloop", 200, "ok"],
  ["readOnly", "/pods", 200, list([pod])],
  ["readOnly", "/pods/", 200, list([pod])],
  ["readOnly", "/runningpods/", 200, list([])],
  ["readOnly", "/metrics", 200, "kubelet_running_pods 1\n"],
  ["readOnly", "/stats/summary", 200, "summary "],
  ["readOnly", "/stats", 404, "404 page not found\n"],
  ["readOnly", "/status", 404, "404 page not found\n"],
  ["socket", "/pods", 200, list([pod])],
  ["socket", "/healthz", 200, "ok"],
])("%s %s: %i", async (handler, path, status, body) => {
  expect(await ask(handlers[handler], path)).toMatchObject({ status, body });
});

const DEBUG_PATHS = [
  ...["/debug", "/debug/pprof", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile", "/debug/pprof/trace"],
  ...["/debug/flags/v", "/debug/vars", "/configz", "/flagz", "/statusz", "/logs/", "/exec/a/b/c", "/run/a/b/c"],
  ...["/containerLogs/a/b/c", "/metrics/../debug/pprof", "/healthz/../debug/pprof", "//debug/pprof", "/json/list"],
];

it.each(DEBUG_PATHS)("CVE-2019-11248: %s is not there for who has shown no credentials", async (path) => {
  for (const method of ["GET", "POST", "PUT"]) {
    expect(await ask(handlers.healthz, path, method)).toMatchObject({ status: expect.toSatisfy(isRefusal) });
    expect(await ask(handlers.readOnly, path, method)).toMatchObject({ status: expect.toSatisfy(isRefusal) });
  }
});

it("CVE-2025-0426: nobody makes a checkpoint without credentials", async () => {
  for (const handler of [handlers.healthz, handlers.readOnly]) {
    for (const method of ["POST", "GET"]) {
      const answer = await ask(handler, "/checkpoint/default/web/main", method);
      expect(answer).toMatchObject({ status: expect.toSatisfy(isRefusal) });
    }
  }
});

const isRefusal = (status: unknown) => status === 404 || status === 405;

it("tells the node, its pods, what was decided and what is wrong with manifests in one document", async () => {
  const { body, headers } = await ask(handlers.socket, "/status");
  expect(headers).toEqual({ "content-type": "application/json" });
  expect(JSON.parse(body)).toEqual({
    revision: "1",
    node: {
      name: "node-1",
      conditions: [{ type: "Ready", status: "True" }],
      runtime: { name: "containerd", version: "v2.0.0" },
    },
    pods: [pod],
    events: [{ ...record, at: "2026-01-01T00:00:00.000Z", count: 2 }],
    manifestProblems: [problem],
  });
});

it("says nothing where its pods are as the client knows them", async () => {
  expect(await ask(handlers.socket, "/status", "GET", "unless=1")).toEqual({ status: 304, body: "" });
  expect(await ask(handlers.socket, "/status", "GET", "unless=0")).toMatchObject({ status: 200 });
});

it("fails where a check of health does", async () => {
  const health = createHealthChecks({ ping: () => undefined, syncloop: () => "stuck" }, { startedAt: 0 });
  const view = createView({ health });
  for (const handler of [createReadOnlyHandler(view), createHealthzHandler(view)]) {
    expect(await ask(handler, "/healthz")).toMatchObject({ status: 500 });
  }
  expect(await ask(createReadOnlyHandler(view), "/healthz/syncloop")).toMatchObject({ status: 500 });
  expect(await ask(createReadOnlyHandler(view), "/healthz/ping")).toMatchObject({ status: 200 });
});

it("shows pods as the items of a list, which says once what they are", async () => {
  const handler = createReadOnlyHandler(createView({ pods: () => [{ apiVersion: "v1", kind: "Pod", ...pod }] }));
  expect(await ask(handler, "/pods")).toMatchObject({ body: list([pod]) });
});

it("answers who reads only", async () => {
  expect(await ask(handlers.readOnly, "/pods", "HEAD")).toMatchObject({ status: 200 });
  for (const method of ["POST", "DELETE"]) {
    expect(await ask(handlers.readOnly, "/pods", method)).toMatchObject({ status: 405 });
  }
});
