import { describe, expect, it } from "vitest";
import { forbiddenError } from "../../../api/api-error.ts";
import type { Node } from "../../../api/gen/types.ts";
import { untilAborted } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import type { CsiNodeInfo } from "../../../csi/port.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { KubeUnreachableError } from "../../../kube/port.ts";
import { createCsiNodeServer } from "./__fixtures__/csi-node-server.ts";
import { nodeInfo } from "./__fixtures__/stub-drivers.ts";
import { createCsiNodeObject } from "./csi-node-object.ts";

function createRig(options: { node?: Node | undefined } = { node: { metadata: { name: "n", uid: "u1" } } }) {
  const clock = createFakeClock();
  const server = createCsiNodeServer();
  const drivers = new Map<string, CsiNodeInfo>();
  const removed = new Set<string>();
  const factsListeners = new Set<() => void>();
  const nodeListeners = new Set<() => void>();
  const errors: Array<string | undefined> = [];
  const logged: string[] = [];
  let node = options.node;
  let announce: (node: Node) => void = () => undefined;
  const known = new Promise<Node>((resolve) => (announce = resolve));
  if (node !== undefined) announce(node);

  const subscribeTo = (listeners: Set<() => void>) => (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const object = createCsiNodeObject(
    {
      client: server.client,
      clock,
      random: createSeededRandom(1),
      log: { ...silentLog, with: () => ({ ...silentLog, error: (message) => logged.push(message) }) },
      drivers: {
        facts: () => ({ drivers: new Map(drivers), removed: new Set(removed) }),
        subscribe: subscribeTo(factsListeners),
      },
      node: {
        nodeReady: async (signal) => untilAborted(known, signal),
        node: () => node,
        subscribe: subscribeTo(nodeListeners),
      },
      onError: () => errors.push(object.error()),
    },
    { nodeName: "n" },
  );
  const controller = new AbortController();
  return {
    clock,
    server,
    errors,
    logged,
    object,
    names: () => server.stored()?.spec.drivers.map(({ name, nodeID }) => `${name}=${nodeID}`),
    run: () => object.run(controller.signal),
    stop: () => controller.abort(),
    listeners: () => factsListeners.size + nodeListeners.size,
    async set(name: string, info: CsiNodeInfo | undefined) {
      if (info === undefined) {
        drivers.delete(name);
        removed.add(name);
      } else {
        drivers.set(name, info);
        removed.delete(name);
      }
      for (const listener of factsListeners) listener();
      await clock.advance(100);
    },
    async setNode(next: Node) {
      node = next;
      announce(next);
      for (const listener of nodeListeners) listener();
      await clock.advance(100);
    },
  };
}

describe("the CSINode", () => {
  it("is made when the node object is there, before any driver is, and the node may be ready then", async () => {
    const rig = createRig({ node: undefined });
    void rig.run();
    await rig.clock.advance(60_000);
    expect(rig.server.calls).toEqual([]);
    expect(rig.object.error()).toBe("CSINode is not yet initialized");
    await rig.setNode({ metadata: { name: "n", uid: "u1" } });
    expect(rig.server.stored()).toMatchObject({
      metadata: { name: "n", ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u1" }] },
      spec: { drivers: [] },
    });
    expect(rig.object.error()).toBeUndefined();
    expect(rig.errors).toEqual([undefined]);
    rig.stop();
  });

  it("follows the drivers that come, change and go", async () => {
    const rig = createRig();
    void rig.run();
    await rig.set("a", nodeInfo("1"));
    await rig.set("b", nodeInfo("2"));
    expect(rig.names()).toEqual(["a=1", "b=2"]);
    await rig.set("a", undefined);
    expect(rig.names()).toEqual(["b=2"]);
    await rig.set("b", nodeInfo("2", { maxVolumes: 4n }));
    expect(rig.server.stored()?.spec.drivers[0]?.allocatable).toEqual({ count: 4 });
    rig.stop();
  });

  it("is not written when a driver goes and comes at once", async () => {
    const rig = createRig();
    void rig.run();
    await rig.set("a", nodeInfo("1"));
    await rig.clock.advance(1_000);
    rig.server.calls.length = 0;
    void rig.set("a", undefined);
    void rig.set("a", nodeInfo("1"));
    await rig.clock.advance(1_000);
    expect(rig.server.calls).not.toContain("replace");
    rig.stop();
  });

  it("lets a driver go first when the server lets nothing of it change", async () => {
    const rig = createRig();
    rig.server.isLimitMutable = false;
    void rig.run();
    await rig.set("a", nodeInfo("1", { maxVolumes: 1n }));
    await rig.set("b", nodeInfo("1"));
    await rig.set("a", nodeInfo("1", { maxVolumes: 2n }));
    expect(rig.server.stored()?.spec.drivers.map(({ name, allocatable }) => [name, allocatable?.count])).toEqual([
      ["b", undefined],
      ["a", 2],
    ]);
    await rig.set("b", nodeInfo("other"));
    expect(rig.names()).toEqual(["a=1", "b=other"]);
    rig.stop();
  });

  it("is made again at the next change after somebody deleted it", async () => {
    const rig = createRig();
    void rig.run();
    await rig.set("a", nodeInfo("1"));
    rig.server.remove();
    await rig.clock.advance(600_000);
    expect(rig.names()).toBeUndefined();
    await rig.set("b", nodeInfo("2"));
    expect(rig.names()).toEqual(["a=1", "b=2"]);
    rig.stop();
  });

  it("is owned by the node that has the name now", async () => {
    const rig = createRig();
    void rig.run();
    await rig.clock.settle();
    await rig.setNode({ metadata: { name: "n", uid: "u2" } });
    expect(rig.server.stored()?.metadata?.ownerReferences?.map(({ uid }) => uid)).toEqual(["u2"]);
    rig.stop();
  });

  it("leaves out a driver that contradicts the node, and says so once", async () => {
    const rig = createRig({ node: { metadata: { name: "n", uid: "u1", labels: { zone: "a" } } } });
    void rig.run();
    await rig.set("bad", nodeInfo("1", { topology: { zone: "b" } }));
    await rig.set("good", nodeInfo("2", { topology: { zone: "a" } }));
    expect(rig.names()).toEqual(["good=2"]);
    expect(rig.logged).toEqual(["A CSI driver contradicts the node's labels and is not told to the cluster"]);
    rig.stop();
  });
});

describe("a write that fails", () => {
  it("is made again at once when somebody else wrote in between", async () => {
    const rig = createRig();
    void rig.run();
    await rig.set("a", nodeInfo("1"));
    let others = 3;
    rig.server.intercept = async (verb) => {
      const stored = rig.server.stored();
      if (verb === "replace" && stored !== undefined && others-- > 0) rig.server.put(stored);
    };
    await rig.set("b", nodeInfo("2"));
    expect(rig.names()).toEqual(["a=1", "b=2"]);
    rig.stop();
  });

  it("because somebody else made the object is a change of that one", async () => {
    const rig = createRig();
    rig.server.intercept = async (verb) => {
      if (verb === "create" && rig.server.stored() === undefined) {
        rig.server.put({ metadata: { name: "n" }, spec: { drivers: [{ name: "x", nodeID: "9" }] } });
      }
    };
    void rig.run();
    await rig.set("a", nodeInfo("1"));
    expect(rig.names()).toEqual(["x=9", "a=1"]);
    rig.stop();
  });

  it.each([
    new KubeUnreachableError("unreachable", "connection refused"),
    forbiddenError({ group: "storage.k8s.io", resource: "csinodes" }, "n", "not yet"),
  ])("is tried until it works, and is why the node is not ready (%s)", async (failure) => {
    const rig = createRig();
    rig.server.intercept = async () => {
      throw failure;
    };
    void rig.run();
    await rig.clock.advance(3_600_000);
    expect(rig.object.error()).toBe(`failed to initialize CSINode: ${failure.message}`);
    expect(rig.server.calls.length).toBeLessThan(150);
    rig.server.intercept = async () => undefined;
    await rig.clock.advance(45_000);
    expect(rig.object.error()).toBeUndefined();

    // From then on a failure is no reason for pods to go elsewhere.
    rig.server.intercept = async () => {
      throw failure;
    };
    await rig.set("a", nodeInfo("1"));
    await rig.clock.advance(60_000);
    expect(rig.object.error()).toBeUndefined();
    rig.server.intercept = async () => undefined;
    await rig.clock.advance(45_000);
    expect(rig.names()).toEqual(["a=1"]);
    rig.stop();
  });

  it("endlessly by conflicts leaves the server time", async () => {
    const rig = createRig();
    void rig.run();
    await rig.clock.settle();
    rig.server.intercept = async (verb) => {
      const stored = rig.server.stored();
      if (verb === "replace" && stored !== undefined) rig.server.put(stored);
    };
    rig.server.calls.length = 0;
    await rig.set("a", nodeInfo("1"));
    expect(rig.server.calls.length).toBeLessThanOrEqual(24);
    rig.stop();
  });
});

it("ends with its signal, whatever it waits for, and leaves nothing behind", async () => {
  for (const prepare of ["node", "server", "retry", "change"] as const) {
    const rig = createRig(prepare === "node" ? { node: undefined } : undefined);
    if (prepare === "retry") rig.server.intercept = async () => Promise.reject(new Error("down"));
    const ended = rig.run();
    await rig.clock.settle();
    rig.stop();
    await ended;
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.listeners()).toBe(0);
  }
});
