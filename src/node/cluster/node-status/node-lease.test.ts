import { describe, expect, it } from "vitest";
import type { Lease, Node } from "../../../api/gen/types.ts";
import { LEASES } from "../../../api/kube-resource.ts";
import { sleep } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { createStubServer } from "./__fixtures__/stub-server.ts";
import { createNodeLease } from "./node-lease.ts";

const NODE: Node = { metadata: { name: "node-1", uid: "node-uid" } };
const OWNER = { apiVersion: "v1", kind: "Node", name: "node-1", uid: "node-uid" };
const LEASE: Lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "node-1", namespace: "kube-node-lease" },
  spec: { holderIdentity: "node-1", leaseDurationSeconds: 40, renewTime: "2025-12-31T00:00:00.000000Z" },
};

function setUp({ isKnown = true } = {}) {
  const clock = createFakeClock();
  const server = createStubServer();
  let known: Node | undefined = isKnown ? NODE : undefined;
  let announce: (node: Node) => void = () => undefined;
  const ready = new Promise<Node>((resolve) => {
    announce = resolve;
  });
  const lease = createNodeLease(
    {
      client: server.client,
      clock,
      random: { next: () => 0 },
      log: silentLog,
      node: { node: () => known, nodeReady: async () => known ?? ready },
    },
    { nodeName: "node-1", leaseDurationSeconds: 40 },
  );
  const controller = new AbortController();
  const start = async () => {
    const running = lease.run(controller.signal);
    await clock.settle();
    return async () => {
      controller.abort();
      await expect(running).rejects.toMatchObject({ name: "AbortError" });
      expect(clock.pendingTimers).toBe(0);
    };
  };
  const become = (next: Node) => {
    known = next;
    announce(next);
  };
  const verbs = () => server.calls.splice(0).map(({ verb }) => verb);
  return { clock, server, start, become, verbs };
}

describe("a lease that does not exist", () => {
  it("is made with its owner, and renewed every ten seconds without a read", async () => {
    const { clock, server, start, verbs } = setUp();
    const stop = await start();
    expect(server.stored(LEASES)).toMatchObject({
      metadata: { name: "node-1", namespace: "kube-node-lease", ownerReferences: [OWNER] },
      spec: { holderIdentity: "node-1", leaseDurationSeconds: 40, renewTime: "2026-01-01T00:00:00.000000Z" },
    });
    expect(verbs()).toEqual(["get", "create"]);
    await clock.advance(9_999);
    expect(verbs()).toEqual([]);
    await clock.advance(10_001);
    expect(verbs()).toEqual(["replace", "replace"]);
    expect(server.stored(LEASES)?.spec?.renewTime).toBe("2026-01-01T00:00:20.000000Z");
    await stop();
  });

  it("is not made before the node is there, and at once when it is", async () => {
    const { clock, server, start, become } = setUp({ isKnown: false });
    const stop = await start();
    await clock.advance(3_000);
    expect(server.count("create")).toBe(0);
    become(NODE);
    await clock.settle();
    expect(server.stored(LEASES)?.metadata?.ownerReferences).toEqual([OWNER]);
    await stop();
  });

  it("is asked for again while the node does not come", async () => {
    const { clock, server, start } = setUp({ isKnown: false });
    const stop = await start();
    await clock.advance(60_000);
    expect(server.count("get")).toBeGreaterThanOrEqual(3);
    expect(server.count("create")).toBe(0);
    await stop();
  });

  it("is tried again after 200 ms, then twice as late each time up to 7 s", async () => {
    const { clock, server, start } = setUp();
    const at: number[] = [];
    server.intercept = () => {
      at.push(clock.monotonic());
      throw new KubeUnreachableError("unreachable", "connection refused");
    };
    const stop = await start();
    await clock.advance(30_000);
    expect(at).toEqual([0, 200, 600, 1_400, 3_000, 6_200, 12_600, 19_600, 26_600]);
    await stop();
  });
});

describe("a lease that exists", () => {
  it("is taken over at once, with the node as its owner", async () => {
    const { server, start, verbs } = setUp();
    server.store(LEASES, {
      ...LEASE,
      spec: { ...LEASE.spec, leaseDurationSeconds: 60, acquireTime: "2020-01-01T00:00:00.000000Z" },
    });
    const stop = await start();
    expect(verbs()).toEqual(["get", "replace"]);
    expect(server.stored(LEASES)).toMatchObject({
      metadata: { ownerReferences: [OWNER] },
      spec: {
        leaseDurationSeconds: 40,
        acquireTime: "2020-01-01T00:00:00.000000Z",
        renewTime: "2026-01-01T00:00:00.000000Z",
      },
    });
    await stop();
  });

  it("is renewed although the node is not known, and given its owner later", async () => {
    const { clock, server, start, become } = setUp({ isKnown: false });
    server.store(LEASES, LEASE);
    const stop = await start();
    expect(server.stored(LEASES)?.spec?.renewTime).toBe("2026-01-01T00:00:00.000000Z");
    expect(server.stored(LEASES)?.metadata).not.toHaveProperty("ownerReferences");
    become(NODE);
    await clock.advance(10_000);
    expect(server.stored(LEASES)?.metadata?.ownerReferences).toEqual([OWNER]);
    become({ metadata: { uid: "made anew" } });
    await clock.advance(10_000);
    expect(server.stored(LEASES)?.metadata?.ownerReferences).toEqual([{ ...OWNER, uid: "made anew" }]);
    await stop();
  });

  it("is read again when somebody else wrote it", async () => {
    const { clock, server, start, verbs } = setUp();
    const stop = await start();
    verbs();
    const stored = server.stored(LEASES);
    server.store(LEASES, { ...LEASE, metadata: { ...stored?.metadata, labels: { theirs: "x" } } });
    await clock.advance(10_000);
    expect(verbs()).toEqual(["replace", "get", "replace"]);
    expect(server.stored(LEASES)).toMatchObject({
      metadata: { labels: { theirs: "x" } },
      spec: { renewTime: "2026-01-01T00:00:10.000000Z" },
    });
    await stop();
  });

  it("is made again when somebody deleted it", async () => {
    const { clock, server, start, verbs } = setUp();
    const stop = await start();
    verbs();
    server.remove(LEASES);
    await clock.advance(10_000);
    expect(verbs()).toEqual(["replace", "get", "create"]);
    await stop();
  });

  it("is tried five times at once, and then found anew", async () => {
    const { clock, server, start, verbs } = setUp();
    const stop = await start();
    verbs();
    let failures = 5;
    server.intercept = () => {
      if (failures-- > 0) throw new KubeUnreachableError("unreachable", "connection reset");
    };
    await clock.advance(10_000);
    expect(verbs()).toEqual([...Array.from({ length: 5 }, () => "replace"), "get", "replace"]);
    await stop();
  });

  it("survives an outage of any length, and is renewed within seven seconds after it", async () => {
    const { clock, server, start } = setUp();
    const stop = await start();
    server.intercept = () => {
      throw new KubeUnreachableError("unreachable", "connection refused");
    };
    await clock.advance(3_600_000);
    server.intercept = () => undefined;
    await clock.advance(7_000);
    expect(Date.parse(server.stored(LEASES)?.spec?.renewTime ?? "")).toBeGreaterThan(clock.now() - 7_000);
    await stop();
  });

  it("bounds each call by the time between two renewals, and ends in the middle of one", async () => {
    const { clock, server, start } = setUp();
    server.intercept = async ({ options }) => sleep(clock, 1_000, options.signal);
    const stop = await start();
    expect(server.calls[0]?.options.timeoutMs).toBe(10_000);
    await stop();
  });
});
