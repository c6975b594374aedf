import { describe, expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { Node } from "../../../api/gen/types.ts";
import { NODES } from "../../../api/kube-resource.ts";
import { isRecord } from "../../../api/object.ts";
import { sleep } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import type { Decision } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { statusInput } from "./__fixtures__/status-input.ts";
import { createStubServer } from "./__fixtures__/stub-server.ts";
import { createNodeHeartbeat, type NodeHeartbeatDeps } from "./node-heartbeat.ts";

const PERIOD_MS = 10_000;
const START = ["Starting", "NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"];

function setUp(changes: Partial<NodeHeartbeatDeps> = {}) {
  const clock = createFakeClock();
  const server = createStubServer();
  const events: Decision[] = [];
  const observed: Node[] = [];
  const world = { input: statusInput({ errors: ["container runtime is down"] }) };
  const heartbeat = createNodeHeartbeat(
    {
      client: server.client,
      clock,
      // This value is the middle: reports come neither earlier nor later than they are due, and there is no noticeable
      // jitter.
      random: { next: () => 0.5 },
      log: silentLog,
      readStatus: async () => world.input,
      recordNodeEvent: (event) => events.push(event),
      observeNode: (node) => observed.push(node),
      ...changes,
    },
    { nodeName: "node-1", updateFrequencyMs: PERIOD_MS, reportFrequencyMs: 300_000, leaseDurationSeconds: 40 },
  );
  server.store(NODES, { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } });
  const controller = new AbortController();
  const start = async () => {
    const running = heartbeat.run(controller.signal);
    await clock.settle();
    return async () => {
      controller.abort();
      await expect(running).rejects.toMatchObject({ name: "AbortError" });
      expect(clock.pendingTimers).toBe(0);
    };
  };
  const verbs = () => server.calls.splice(0).map(({ verb }) => verb);
  const ready = () => server.stored(NODES)?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const reasons = () => events.splice(0).map(({ reason }) => reason);
  return { clock, server, world, heartbeat, start, verbs, ready, reasons, observed };
}

describe("the status", () => {
  it("is written at the start, computed every ten seconds and not written again while nothing changes", async () => {
    const { clock, server, start, verbs, ready } = setUp();
    const stop = await start();
    expect(ready()).toBe("False");
    expect(server.stored(NODES)?.metadata?.labels).toEqual({
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
    });
    expect(server.calls.map(({ options }) => options)).toMatchObject([
      { resourceVersion: "0", timeoutMs: 10_000 },
      { subresource: "status", timeoutMs: 10_000 },
    ]);
    expect(verbs()).toEqual(["get", "patch"]);
    await clock.advance(6 * 1.02 * PERIOD_MS);
    expect(verbs()).toEqual(Array.from({ length: 6 }, () => "get"));
    await stop();
  });

  it("is written after five minutes although nothing changed, with the heartbeat only", async () => {
    const { clock, server, start } = setUp();
    const stop = await start();
    server.calls.length = 0;
    await clock.advance(299_000);
    expect(server.count("patch")).toBe(0);
    await clock.advance(12_000);
    const [patch, ...others] = server.calls.filter(({ verb }) => verb === "patch");
    expect(others).toEqual([]);
    const status = isRecord(patch?.body) && isRecord(patch.body["status"]) ? patch.body["status"] : {};
    expect(status["conditions"]).toEqual(
      ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => {
        return { type, lastHeartbeatTime: expect.stringMatching(/^2026-01-01T00:05/) };
      }),
    );
    expect(Object.keys(status)).toEqual(["$setElementOrder/conditions", "conditions"]);
    await stop();
  });

  it("spreads the reports of nodes that changed together over the period", async () => {
    const { clock, server, start } = setUp({ random: { next: () => 0 } });
    const stop = await start();
    await clock.advance(149_000);
    expect(server.count("patch")).toBe(1);
    await clock.advance(12_000);
    expect(server.count("patch")).toBe(2);
    await clock.advance(288_000);
    expect(server.count("patch")).toBe(2);
    await clock.advance(12_000);
    expect(server.count("patch")).toBe(3);
    await stop();
  });

  it("repairs what somebody else changed of it", async () => {
    const { clock, server, start, ready } = setUp();
    const stop = await start();
    const node = server.stored(NODES);
    const conditions = (node?.status?.conditions ?? []).map((condition) => ({ ...condition, status: "Unknown" }));
    server.store(NODES, { ...node, status: { ...node?.status, conditions } });
    await clock.advance(11_000);
    expect(ready()).toBe("False");
    await stop();
  });
});

describe("a change that cannot wait", () => {
  it("is written at once", async () => {
    const { clock, world, heartbeat, start, ready, reasons } = setUp();
    const stop = await start();
    await clock.advance(500);
    reasons();
    world.input = statusInput();
    heartbeat.syncNow();
    await clock.settle();
    expect(ready()).toBe("True");
    expect(reasons()).toEqual(["NodeReady"]);
    await stop();
  });

  it("is written after what is under way, and often is as good as once", async () => {
    const { clock, server, world, heartbeat, start, ready, verbs } = setUp();
    server.intercept = async ({ options }) => sleep(clock, 50, options.signal);
    const stop = await start();
    world.input = statusInput({ errors: ["other"] });
    await clock.advance(60);
    world.input = statusInput();
    for (let call = 0; call < 10; call++) heartbeat.syncNow();
    await clock.advance(130);
    expect(verbs()).toEqual(["get", "patch"]);
    await clock.advance(200);
    expect(ready()).toBe("True");
    expect(verbs()).toEqual(["get", "patch"]);
    await clock.advance(5_000);
    expect(verbs()).toEqual([]);
    await stop();
  });

  it("does not forget what it wrote when the server's cache is behind", async () => {
    const { clock, server, world, heartbeat, start, reasons } = setUp();
    world.input = statusInput({ errors: ["first"] });
    const stop = await start();
    const stale = server.stored(NODES);
    await clock.advance(1_000);
    world.input = statusInput();
    heartbeat.syncNow();
    await clock.settle();
    expect(reasons()).toEqual([...START, "NodeReady"]);
    const client = server.client.get;
    server.client.get = async (resource, name, options) => {
      return options?.resourceVersion === "0" ? resource.read(stale) : client(resource, name, options);
    };
    server.calls.length = 0;
    await clock.advance(11_000);
    expect(reasons()).toEqual([]);
    expect(server.count("patch")).toBe(0);
    await stop();
  });
});

describe("a failure", () => {
  it("is tried again five times at once, reading from the store and not from the cache", async () => {
    const { clock, server, start } = setUp();
    server.intercept = () => {
      throw new KubeUnreachableError("timed-out", "no answer");
    };
    const stop = await start();
    expect(server.calls.map(({ options }) => options.resourceVersion)).toEqual(["0", ...Array.from({ length: 4 })]);
    await clock.advance(9_000);
    expect(server.calls).toHaveLength(5);
    await stop();
  });

  it("of a write leads to another read", async () => {
    const { server, start, verbs, reasons, ready } = setUp();
    let failures = 2;
    server.intercept = ({ verb }) => {
      if (verb === "patch" && failures-- > 0) throw new ApiError("Conflict", "changed");
    };
    const stop = await start();
    expect(verbs()).toEqual(["get", "patch", "get", "patch", "get", "patch"]);
    expect(ready()).toBe("False");
    expect(reasons()).toEqual(START);
    await stop();
  });

  it("of reading the machine does not hold up the heartbeat forever", async () => {
    let isHanging = true;
    const { clock, start, ready } = setUp({
      readStatus: async () => (isHanging ? new Promise(() => undefined) : statusInput()),
    });
    const stop = await start();
    await clock.advance(9_000);
    isHanging = false;
    await clock.advance(1_000);
    expect(ready()).toBe("True");
    await stop();
  });

  it("of any length is over when the server is back", async () => {
    const { clock, server, world, start, ready } = setUp();
    const stop = await start();
    world.input = statusInput();
    server.intercept = () => {
      throw new KubeUnreachableError("unreachable", "connection refused");
    };
    await clock.advance(3_600_000);
    server.intercept = () => undefined;
    await clock.advance(11_000);
    expect(ready()).toBe("True");
    await stop();
  });
});

describe("events", () => {
  it("tell of the start and of the pressure once, though nothing changed since the last run", async () => {
    const first = setUp();
    const stopFirst = await first.start();
    expect(first.reasons()).toEqual(START);
    await first.clock.advance(60_000);
    expect(first.reasons()).toEqual([]);
    await stopFirst();

    const second = setUp();
    second.server.store(NODES, first.server.stored(NODES) ?? {});
    const stopSecond = await second.start();
    expect(second.verbs()).toEqual(["get"]);
    expect(second.reasons()).toEqual(START);
    await second.clock.advance(60_000);
    expect(second.reasons()).toEqual([]);
    await stopSecond();
  });

  it("tell of a reboot", async () => {
    const { clock, world, start, reasons } = setUp();
    const stop = await start();
    reasons();
    const { machine } = world.input;
    world.input = { ...world.input, machine: { ...machine, identity: { ...machine.identity, bootId: "boot-2" } } };
    await clock.advance(11_000);
    expect(reasons()).toEqual(["Rebooted"]);
    await stop();
  });

  it("tell when somebody cordons the node", async () => {
    const { clock, server, start, reasons } = setUp();
    const stop = await start();
    reasons();
    for (const [unschedulable, reason] of [
      [true, "NodeNotSchedulable"],
      [false, "NodeSchedulable"],
    ] as const) {
      server.store(NODES, { ...server.stored(NODES), spec: { unschedulable } });
      await clock.advance(10_500);
      expect(reasons()).toEqual([reason]);
    }
    await stop();
  });
});

describe("a node object that is gone", () => {
  it("is made again where the node registers itself", async () => {
    const made: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1", uid: "anew" } };
    const { clock, server, start, ready, verbs, observed } = setUp({
      registerAgain: async () => server.store(NODES, made),
    });
    const stop = await start();
    verbs();
    server.remove(NODES);
    await clock.advance(10_500);
    expect(verbs()).toEqual(["get", "get", "patch"]);
    expect(ready()).toBe("False");
    expect(observed.at(-1)?.metadata?.uid).toBe("anew");
    await stop();
  });

  it("is waited for elsewhere", async () => {
    const { clock, server, start, ready } = setUp();
    const stop = await start();
    const node = server.stored(NODES);
    server.remove(NODES);
    await clock.advance(60_000);
    expect(server.stored(NODES)).toBeUndefined();
    server.store(NODES, { ...node, status: {} });
    await clock.advance(10_500);
    expect(ready()).toBe("False");
    await stop();
  });

  it("is not made again because a cache does not have it yet", async () => {
    let registrations = 0;
    const { server, start, ready } = setUp({
      registerAgain: async () => {
        registrations++;
        throw new Error("must not");
      },
    });
    server.intercept = ({ verb, options }) => {
      if (verb === "get" && options.resourceVersion === "0") throw new ApiError("NotFound", "not yet");
    };
    const stop = await start();
    expect(ready()).toBe("False");
    expect(registrations).toBe(0);
    await stop();
  });
});

it("tells every version of the node that it sees", async () => {
  const { clock, server, start, observed } = setUp();
  const stop = await start();
  server.store(NODES, { ...server.stored(NODES), spec: { podCIDRs: ["10.1.0.0/24"] } });
  await clock.advance(10_500);
  expect(observed.map(({ spec }) => spec?.podCIDRs)).toEqual([undefined, ["10.1.0.0/24"]]);
  await stop();
});
