import { Readable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import type { APIServiceSpec } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { AbortedError } from "../../base/abort.ts";
import { CodedError } from "../../base/errors.ts";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import type { WebCall, WebReply } from "../../host/web-call.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createStartHooks } from "../control-loop/start-hooks.ts";
import { APPS_KINDS } from "../kinds/apps/apps-kinds.ts";
import { createAggregation, REGISTRATION_STEP } from "./aggregation.ts";

const REGISTRATIONS = "apiservices.apiregistration.k8s.io";
const NAME = "v1alpha1.wardle.example.com";
const ROOT = "/apis/wardle.example.com/v1alpha1";
const identity = { certificatePem: "front", keyPem: "key" };
const user = { username: "jane", groups: ["dev"], extra: { "example.com/Team": ["a"] } };
const target = {
  ...({ isResource: true, verb: "list", group: "wardle.example.com", version: "v1alpha1", rest: "" } as const),
};
const flunders = {
  name: "flunders",
  singularName: "flunder",
  namespaced: true,
  kind: "Flunder",
  verbs: ["get", "list"],
};
const status = { ...flunders, name: "flunders/status", singularName: "", verbs: ["get"] };

const registration = (spec: Partial<APIServiceSpec> = {}, name = NAME): KubeObject => ({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name },
  spec: {
    ...{ group: "wardle.example.com", version: "v1alpha1", groupPriorityMinimum: 2000, versionPriority: 200 },
    ...{ service: { namespace: "wardle", name: "api", port: 7443 }, caBundle: "Y2E=", ...spec },
  },
});
const service: KubeObject = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "wardle", name: "api" },
  spec: { type: "ClusterIP", ports: [{ port: 7443, name: "https" }] },
};
const slice = (...addresses: string[]): KubeObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace: "wardle", name: "api-1", labels: { "kubernetes.io/service-name": "api" } },
  addressType: "IPv4",
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  ports: [{ name: "https", port: 443 }],
});

const reply = (body: unknown, code = 200): WebReply => ({
  status: code,
  headers: { "content-type": ["application/json"], connection: ["close"] },
  body: Readable.from([Buffer.from(typeof body === "string" ? body : JSON.stringify(body))]),
});
const discovery = () => reply({ kind: "APIResourceList", groupVersion: "x", resources: [flunders, status] });

/** A cluster with a registration; each call of a backend is answered by `answer`. */
async function startCluster(answer: (call: WebCall, signal: AbortSignal) => Promise<WebReply>) {
  const bench = createControllerBench();
  const calls: WebCall[] = [];
  const aggregation = createAggregation({
    ...bench.deps,
    ...{
      kinds: () => APPS_KINDS,
      hooks: createStartHooks([REGISTRATION_STEP]),
      identity,
      random: () => 0,
      resolveHost: async () => await Promise.resolve(["10.9.9.9"]),
    },
    callUpgrade: async () => await Promise.reject(new Error("nobody asks for an upgrade")),
    callWeb: async (call, signal) => {
      calls.push(call);
      return await answer(call, signal);
    },
  });
  for (const controller of aggregation.controllers) bench.start(controller);
  const condition = () => {
    const found = bench.reader.get({ resource: REGISTRATIONS, namespace: "", name: NAME });
    return found?.["status"];
  };
  return { bench, calls, aggregation, condition };
}

async function startAvailable(answer: (call: WebCall, signal: AbortSignal) => Promise<WebReply>) {
  const cluster = await startCluster(async (call, signal) => {
    return call.target === ROOT ? discovery() : await answer(call, signal);
  });
  await cluster.bench.create("services", service);
  await cluster.bench.create("endpointslices.discovery.k8s.io", slice("10.1.2.3"));
  await cluster.bench.create(REGISTRATIONS, registration());
  await eventually(() => expect(cluster.aggregation.backends.versions()).toMatchObject([{ resources: [{}, {}] }]));
  return cluster;
}

const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 60_000 });
const availability = (word: string, reason: string) => ({ conditions: [{ type: "Available", status: word, reason }] });

describe("an API server that somebody registers", () => {
  it("is available when it tells what it serves, to us by our certificate", async () => {
    const { calls, condition, aggregation } = await startAvailable(async () => reply(""));
    expect(condition()).toMatchObject(availability("True", "Passed"));
    expect(calls[0]).toMatchObject({
      ...{ scheme: "https", host: "api.wardle.svc", port: 443, addresses: ["10.1.2.3"], target: ROOT },
      tls: { cert: "front", key: "key", ca: "ca" },
      headers: { "x-remote-user": ["system:kube-aggregator"], "x-remote-group": ["system:masters"] },
    });
    expect(aggregation.backends.versions()).toMatchObject([
      { group: "wardle.example.com", version: "v1alpha1", groupPriority: 2000, versionPriority: 200 },
    ]);
  });

  it.each<[string, KubeObject[], string]>([
    ["without its service", [], "ServiceNotFound"],
    ["whose service has another port", [{ ...service, spec: { ports: [{ port: 1 }] } }], "ServicePortError"],
    ["whose service has no endpoints", [service], "EndpointsNotFound"],
    ["whose service has no address", [service, slice()], "MissingEndpoints"],
    ["whose service leads to the machine itself", [service, slice("127.0.0.1")], "MissingEndpoints"],
  ])("%s is not", async (_what, objects, reason) => {
    const { bench, condition, calls } = await startCluster(async () => discovery());
    for (const object of objects) {
      await bench.create(object.kind === "Service" ? "services" : "endpointslices.discovery.k8s.io", object);
    }
    await bench.create(REGISTRATIONS, registration());
    await eventually(() => expect(condition()).toMatchObject(availability("False", reason)));
    expect(calls).toEqual([]);
  });

  it.each<[string, () => Promise<WebReply>]>([
    ["refuses the connection", async () => await Promise.reject(new CodedError("call-failed", "connection refused"))],
    ["answers 500", async () => reply("broken", 500)],
    ["redirects", async () => reply("", 302)],
  ])("that %s is not, until it answers", async (_what, fail) => {
    let isBroken = true;
    const { bench, condition } = await startCluster(async () => (isBroken ? await fail() : discovery()));
    await bench.create("services", service);
    await bench.create("endpointslices.discovery.k8s.io", slice("10.1.2.3"));
    await bench.create(REGISTRATIONS, registration());
    await eventually(() => expect(condition()).toMatchObject(availability("False", "FailedDiscoveryCheck")));
    isBroken = false;
    await eventually(async () => {
      await bench.clock.advance(2_000);
      expect(condition()).toMatchObject(availability("True", "Passed"));
    });
  });

  it("that hangs is not, after five seconds", async () => {
    const { bench, condition } = await startCluster(async (_call, signal) => {
      return await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new AbortedError()), { once: true });
      });
    });
    await bench.create("services", service);
    await bench.create("endpointslices.discovery.k8s.io", slice("10.1.2.3"));
    await bench.create(REGISTRATIONS, registration());
    await eventually(async () => {
      await bench.clock.advance(5_000);
      expect(condition()).toMatchObject(availability("False", "FailedDiscoveryCheck"));
    });
  });

  it.each([
    ["nonsense", "{"],
    ["a list of nonsense", { resources: [7] }],
    ["more than can be", "x".repeat(5 * 1024 * 1024)],
  ])("that tells %s is available and shown with nothing", async (_what, told) => {
    const { bench, condition, aggregation } = await startCluster(async () => reply(told));
    await bench.create("services", service);
    await bench.create("endpointslices.discovery.k8s.io", slice("10.1.2.3"));
    await bench.create(REGISTRATIONS, registration());
    await eventually(() => expect(condition()).toMatchObject(availability("True", "Passed")));
    expect(aggregation.backends.versions()).toMatchObject([{ resources: undefined }]);
  });
});

describe("a request for its group", () => {
  it("goes on in the user's name, without what only we may say", async () => {
    const { calls, aggregation } = await startAvailable(async () => reply({ kind: "FlunderList" }));
    const headers = {
      "x-remote-user": "admin",
      x_remote_user: "admin",
      authorization: "Bearer a",
      accept: "application/json",
    };
    const request = createFakeRequest(`${ROOT}/namespaces/a/flunders?limit=5`, { headers });
    expect(await aggregation.forward(request, target, user)).toMatchObject({ status: 200 });
    const { headers: sent, target: path } = calls.at(-1) ?? {};
    expect(path).toBe(`${ROOT}/namespaces/a/flunders?limit=5`);
    expect(sent).toEqual({
      accept: ["application/json"],
      "x-remote-user": ["jane"],
      "x-remote-group": ["dev"],
      "x-remote-extra-example.com%2Fteam": ["a"],
      "x-forwarded-for": ["192.0.2.1"],
    });
  });

  it.each([
    "/namespaces/a/../b/flunders",
    "/namespaces/a/flunders/x/%2E%2e/%2e./b/flunders/y",
    "/namespaces/a/flunders/x%2Fstatus",
    "/namespaces/a/flunders/x%2f..%2f..%2f..%2fb%2fflunders",
    "/namespaces/a/flunders/%",
  ])("does not go on where a backend could read another path: %s", async (path) => {
    const { calls, aggregation } = await startAvailable(async () => reply(""));
    const before = calls.length;
    const request = createFakeRequest(`${ROOT}${path}`);
    await expect(aggregation.forward(request, target, user)).rejects.toMatchObject({ code: 400 });
    expect(calls.length).toBe(before);
  });

  it("may have a slash in what follows the names", async () => {
    const { calls, aggregation } = await startAvailable(async () => reply(""));
    const rest = "/a%2Fb";
    const path = `${ROOT}/namespaces/a/flunders/x/proxy${rest}`;
    await aggregation.forward(createFakeRequest(path), { ...target, rest }, user);
    expect(calls.at(-1)?.target).toBe(path);
    const upwards = createFakeRequest(`${path}%2F../..`);
    await expect(aggregation.forward(upwards, { ...target, rest: `${rest}%2F../..` }, user)).rejects.toThrow("upwards");
  });

  it("is passed on for its discovery, and answered here for all other groups", async () => {
    const { aggregation } = await startAvailable(async () => reply(""));
    const forward = (path: string) => aggregation.forward(createFakeRequest(path), { isResource: false, path }, user);
    expect(await forward(ROOT)).toMatchObject({ status: 200 });
    expect(forward("/apis/wardle.example.com")).toBeUndefined();
    expect(forward("/apis/apps/v1")).toBeUndefined();
  });

  it("is refused while it is not available, or breaks", async () => {
    const { bench, aggregation } = await startAvailable(async () => {
      return await Promise.reject(new CodedError("call-failed", "read: connection reset by peer"));
    });
    const ask = async () => await aggregation.forward(createFakeRequest(`${ROOT}/flunders`), target, user);
    await expect(ask()).rejects.toMatchObject({ code: 503, message: expect.stringContaining("connection reset") });
    await bench.writer.remove({ resource: "services", namespace: "wardle", name: "api" });
    expect(await ask()).toMatchObject({ status: 503, body: "service unavailable\n" });
  });

  it("ends after a minute without an answer, but not where it watches", async () => {
    const { bench, aggregation } = await startAvailable(async (_call, signal) => {
      return await new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new AbortedError()), { once: true });
        void bench.clock.advance(61_000).then(() => resolve(reply("late")));
      });
    });
    const ask = async (verb: string) => {
      return await aggregation.forward(createFakeRequest(`${ROOT}/flunders`), { ...target, verb }, user);
    };
    await expect(ask("list")).rejects.toMatchObject({ code: 504 });
    expect(await ask("watch")).toMatchObject({ status: 200 });
  });
});

it("no one answers for a group of our own", async () => {
  const { bench, aggregation } = await startCluster(async () => discovery());
  const own = () => bench.reader.get({ resource: REGISTRATIONS, namespace: "", name: "v1.apps" });
  await eventually(() => expect(own()).toBeDefined());
  await bench.writer.update(REGISTRATIONS, registration({ group: "apps", version: "v1" }, "v1.apps"));
  await eventually(() => expect(own()?.["spec"]).not.toHaveProperty("service"));
  const request = createFakeRequest("/apis/apps/v1/deployments");
  expect(aggregation.forward(request, { ...target, group: "apps", version: "v1" }, user)).toBeUndefined();
});
