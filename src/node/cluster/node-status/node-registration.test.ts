import { describe, expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { Node } from "../../../api/gen/types.ts";
import { NODES } from "../../../api/kube-resource.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { createStubServer } from "./__fixtures__/stub-server.ts";
import { createNodeRegistration, type NodeRegistrationOptions } from "./node-registration.ts";

const INITIAL: Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-1", labels: { "kubernetes.io/os": "linux" } },
  status: { capacity: { cpu: "4" } },
};

function setUp(changes: Partial<NodeRegistrationOptions> = {}) {
  const clock = createFakeClock();
  const server = createStubServer();
  const options = { nodeName: "node-1", registerNode: true, timeoutMs: 10_000, ...changes };
  // There is no randomness, so that waits have their exact length.
  const deps = { client: server.client, clock, random: { next: () => 0 }, log: silentLog };
  const registration = createNodeRegistration(deps, options);
  const controller = new AbortController();
  return { clock, server, registration, controller, signal: controller.signal };
}

describe("a node that registers itself", () => {
  it("creates its object", async () => {
    const { server, registration, signal } = setUp();
    const node = await registration.register(INITIAL, signal);
    expect(node).toMatchObject(INITIAL);
    expect(node.metadata?.uid).toBe(server.stored(NODES)?.metadata?.uid);
    expect(server.calls.map(({ verb, options }) => [verb, options.timeoutMs])).toEqual([["create", 10_000]]);
  });

  it("brings an existing object in line, and leaves alone what is not the node's", async () => {
    const { server, registration, signal } = setUp();
    const spec = { unschedulable: true, podCIDR: "10.1.0.0/24" };
    const status = { capacity: { cpu: "1", "example.com/gpu": "2" } };
    server.store(NODES, { ...INITIAL, metadata: { name: "node-1", uid: "old", labels: { own: "x" } }, spec, status });
    const node = await registration.register(INITIAL, signal);
    expect(node).toMatchObject({
      metadata: { uid: "old", labels: { own: "x", "kubernetes.io/os": "linux" } },
      spec,
      status: { capacity: { cpu: "1", "example.com/gpu": "0" } },
    });
    expect(server.calls.map(({ verb, options }) => [verb, options.subresource])).toEqual([
      ["create", undefined],
      ["get", undefined],
      ["patch", "status"],
    ]);
    expect(server.calls[1]?.options.resourceVersion).toBeUndefined();
  });

  it("writes nothing to an existing object that is as it should be", async () => {
    const { server, registration, signal } = setUp();
    server.store(NODES, INITIAL);
    await registration.register(INITIAL, signal);
    expect(server.count("patch")).toBe(0);
  });

  it("leaves the counts of devices alone where it is told to", async () => {
    const { server, registration, signal } = setUp({ resetExtendedResources: false });
    server.store(NODES, { ...INITIAL, status: { capacity: { "example.com/gpu": "2" } } });
    const node = await registration.register(INITIAL, signal);
    expect(node.status?.capacity).toEqual({ "example.com/gpu": "2" });
  });

  it("takes an object that it may not create, but that exists", async () => {
    const { server, registration, signal } = setUp();
    server.store(NODES, INITIAL);
    server.intercept = ({ verb }) => {
      if (verb === "create") throw new ApiError("Forbidden", "no");
    };
    expect(await registration.register(INITIAL, signal)).toMatchObject(INITIAL);
  });

  it("waits twice as long each time, up to seven seconds, until the server answers", async () => {
    const { clock, server, registration, signal } = setUp();
    const at: number[] = [];
    server.intercept = ({ verb }) => {
      if (verb === "create") at.push(clock.monotonic());
      if (clock.monotonic() < 30_000) throw new KubeUnreachableError("unreachable", "connection refused");
    };
    const registering = registration.register(INITIAL, signal);
    await clock.advance(60_000);
    await registering;
    expect(at).toEqual([0, 100, 300, 700, 1_500, 3_100, 6_300, 12_700, 19_700, 26_700, 33_700]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("goes on trying whatever the server says", async () => {
    const { clock, server, registration, signal } = setUp();
    const answers = [
      new ApiError("Invalid", "bad"),
      new ApiError("Forbidden", "no"),
      new ApiError("InternalError", "x"),
    ];
    server.intercept = ({ verb }) => {
      const error = verb === "create" ? answers.shift() : undefined;
      if (error !== undefined) throw error;
    };
    const registering = registration.register(INITIAL, signal);
    await clock.advance(1_000);
    expect(await registering).toMatchObject(INITIAL);
  });

  it("ends when it is told to, with nothing left behind", async () => {
    const { clock, server, registration, controller, signal } = setUp();
    server.intercept = () => {
      throw new KubeUnreachableError("unreachable", "connection refused");
    };
    const registering = registration.register(INITIAL, signal);
    await clock.settle();
    controller.abort();
    await expect(registering).rejects.toMatchObject({ name: "AbortError" });
    expect(clock.pendingTimers).toBe(0);
    expect(registration.node()).toBeUndefined();
  });
});

it("waits for an object that others make, and writes nothing", async () => {
  const { clock, server, registration, signal } = setUp({ registerNode: false });
  const registering = registration.register(INITIAL, signal);
  await clock.advance(1_000);
  server.store(NODES, { ...INITIAL, metadata: { name: "node-1", uid: "theirs" } });
  await clock.advance(7_000);
  expect((await registering).metadata).toMatchObject({ uid: "theirs" });
  expect(server.calls.every(({ verb }) => verb === "get")).toBe(true);
});

describe("who waits for the node", () => {
  it("waits until it is registered, and not at all afterwards", async () => {
    const { registration, signal } = setUp();
    const early = registration.nodeReady(signal);
    await registration.register(INITIAL, signal);
    expect(await early).toBe(registration.node());
    expect(await registration.nodeReady(signal)).toBe(registration.node());
  });

  it("may give up", async () => {
    const { registration, controller, signal } = setUp();
    const waiting = registration.nodeReady(signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  });

  it("finds the version that was seen last", () => {
    const { registration } = setUp();
    const newer = { ...INITIAL, metadata: { uid: "2" } };
    registration.observe(INITIAL);
    registration.observe(newer);
    expect(registration.node()).toBe(newer);
  });

  it("hears of the first object and of each that takes its place, but not of its versions", () => {
    const { registration } = setUp();
    const heard: Array<string | undefined> = [];
    const unsubscribe = registration.subscribe(({ metadata }) => heard.push(metadata?.uid));
    for (const uid of ["1", "1", "2", "2"]) registration.observe({ ...INITIAL, metadata: { uid } });
    unsubscribe();
    registration.observe({ ...INITIAL, metadata: { uid: "3" } });
    expect(heard).toEqual(["1", "2"]);
  });
});
