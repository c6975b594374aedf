import { describe, expect, it } from "vitest";
import { ApiError, conflictError, forbiddenError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_MIRROR_ANNOTATION } from "../../../api/well-known.ts";
import { createMirrorRig, NODE, staticPod } from "./__fixtures__/mirror-rig.ts";
import { makeMirrorPod } from "./make-mirror-pod.ts";

const [a1, a2] = [staticPod("a", "a1"), staticPod("a", "a2")];

function setUp(...pods: Pod[]) {
  const rig = createMirrorRig();
  void rig.run();
  rig.want(...pods);
  const hashOf = (name = "a") => rig.get(name)?.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION];
  return Object.assign(rig, { hashOf });
}

describe("a mirror", () => {
  it("is created once, though the watch shows it late", async () => {
    const rig = setUp(a1);
    rig.watchDelayMs = 20_000;
    await rig.clock.advance(5);
    for (let times = 0; times < 5; times++) {
      rig.update();
      await rig.clock.advance(1_000);
    }
    expect(rig.requests).toEqual(["create a"]);
    await rig.clock.advance(60_000);
    expect(rig.requests).toEqual(["create a"]);
    expect(rig.hashOf()).toBe("a1");
  });

  it("waits for the node", async () => {
    const rig = createMirrorRig();
    rig.setNodeUid(undefined);
    void rig.run();
    rig.want(a1);
    await rig.clock.advance(60_000);
    expect(rig.requests).toEqual([]);
    rig.setNodeUid("node-uid");
    rig.update();
    await rig.clock.advance(100);
    expect(rig.get("a")?.metadata?.ownerReferences?.[0]?.uid).toBe("node-uid");
  });

  it("is replaced at once when its static pod is, without waiting for the watch", async () => {
    const rig = setUp(a1);
    await rig.clock.advance(100);
    rig.watchDelayMs = 60_000;
    rig.want(a2);
    await rig.clock.advance(30);
    expect(rig.requests).toEqual(["create a", "delete a", "create a"]);
    expect(rig.hashOf()).toBe("a2");
  });

  it.each(["mark", "purge"] as const)("comes back when somebody deletes it (%s)", async (how) => {
    const rig = setUp(a1);
    await rig.clock.advance(100);
    rig[how]("a");
    await rig.clock.advance(100);
    expect(rig.hashOf()).toBe("a1");
    expect(rig.get("a")?.metadata?.uid).toBe("m2");
  });

  it("comes back also where nobody saw it: created and deleted between two looks", async () => {
    const rig = setUp(a1);
    rig.watchDelayMs = 10;
    await rig.clock.advance(9);
    rig.purge("a");
    rig.watchDelayMs = 1_000_000;
    rig.update();
    await rig.clock.advance(40_000);
    expect(rig.hashOf()).toBe("a1");
  });

  it("goes with its static pod, not before that has ended", async () => {
    const rig = setUp(a1);
    await rig.clock.advance(100);
    rig.ending.add("a_kube-system");
    rig.want();
    await rig.clock.advance(60_000);
    expect(rig.hashOf()).toBe("a1");
    rig.ending.clear();
    rig.update();
    await rig.clock.advance(100);
    expect(rig.get("a")).toBeUndefined();
  });

  it("is replaced when its static pod has ended and begins anew", async () => {
    const rig = setUp(a1);
    await rig.clock.advance(100);
    const first = rig.get("a")?.metadata?.uid ?? "";
    rig.outlived.add(first);
    rig.update();
    await rig.clock.advance(100);
    expect(rig.requests).toEqual(["create a", "delete a", "create a"]);
    expect(rig.get("a")?.metadata?.uid).not.toBe(first);
  });

  it("that changed while it was to be deleted is deleted all the same", async () => {
    const rig = setUp(a1);
    await rig.clock.advance(100);
    const conflict = conflictError({ group: "", resource: "pods" }, "a", "the object has been modified");
    let isFirst = true;
    rig.fault = (request) => {
      if (request !== "delete a" || !isFirst) return undefined;
      isFirst = false;
      return conflict;
    };
    rig.want();
    await rig.clock.advance(2_000);
    expect(rig.get("a")).toBeUndefined();
    expect(rig.requests).toEqual(["create a", "delete a", "get a", "delete a"]);
  });

  it("from before the agent's start stays until the sources are ready", async () => {
    const rig = createMirrorRig();
    rig.sourcesReady = false;
    rig.put(makeMirrorPod(a1, { nodeName: NODE, nodeUid: "node-uid" }));
    void rig.run();
    await rig.clock.advance(60_000);
    expect(rig.get("a")).toBeDefined();
    rig.want(a1);
    await rig.clock.advance(60_000);
    expect(rig.requests).toEqual([]);
    rig.sourcesReady = true;
    rig.want();
    await rig.clock.advance(100);
    expect(rig.get("a")).toBeUndefined();
  });

  it("that would refer to the API is not created, and that is said once", async () => {
    const rig = setUp(staticPod("a", "a1", { serviceAccountName: "s" }));
    for (let times = 0; times < 3; times++) rig.update();
    await rig.clock.advance(60_000);
    expect(rig.requests).toEqual([]);
    expect(rig.warnings).toEqual(["Failed creating a mirror pod for: it would reference a service account"]);
  });
});

describe("a name that is taken", () => {
  it("by a pod that is no mirror is left alone, said once, and looked at now and then", async () => {
    const rig = createMirrorRig();
    rig.put({ metadata: { name: "a", namespace: "kube-system" }, spec: { containers: [], nodeName: "elsewhere" } });
    void rig.run();
    rig.want(a1);
    await rig.clock.advance(300_000);
    expect(rig.warnings).toEqual(["Failed creating a mirror pod for: a pod that is no mirror has its name"]);
    expect(rig.requests.filter((request) => request === "create a").length).toBeLessThan(7);
    rig.purge("a");
    await rig.clock.advance(80_000);
    expect(rig.get("a")?.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION]).toBe("a1");
    expect(rig.violations).toEqual([]);
  });

  it("by an outdated mirror, which the watch has not shown yet, is freed", async () => {
    const rig = createMirrorRig();
    rig.watchDelayMs = 60_000;
    rig.put(makeMirrorPod(a1, { nodeName: NODE, nodeUid: "node-uid" }));
    void rig.run();
    rig.want(a2);
    await rig.clock.advance(1_000);
    expect(rig.requests).toEqual(["create a", "get a", "delete a", "create a"]);
    expect(rig.get("a")?.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION]).toBe("a2");
  });

  it("by a mirror that finalizers hold is tried ever more slowly", async () => {
    const rig = createMirrorRig();
    const mirror = makeMirrorPod(a1, { nodeName: NODE, nodeUid: "node-uid" });
    rig.put({ ...mirror, metadata: { ...mirror.metadata, finalizers: ["example.com/hold"] } });
    await rig.clock.advance(10);
    void rig.run();
    rig.want(a2);
    await rig.clock.advance(300_000);
    expect(rig.requests.length).toBeLessThan(40);
    rig.purge("a");
    await rig.clock.advance(50);
    expect(rig.get("a")?.metadata?.annotations?.[CONFIG_MIRROR_ANNOTATION]).toBe("a2");
  });
});

describe("failures", () => {
  it("are retried ever more slowly, said once, and forgotten when there is something else to do", async () => {
    const rig = setUp();
    rig.fault = () => forbiddenError({ group: "", resource: "pods" }, "a", "no");
    rig.want(a1);
    await rig.clock.advance(300_000);
    expect(rig.requests.length).toBeGreaterThan(9);
    expect(rig.requests.length).toBeLessThan(17);
    expect(rig.warnings).toEqual(['Failed creating a mirror pod for: pods "a" is forbidden: no']);
    rig.fault = () => undefined;
    rig.want(a2);
    await rig.clock.advance(50);
    expect(rig.hashOf()).toBe("a2");
  });

  it("do not hold up other mirrors", async () => {
    const rig = setUp();
    rig.fault = (request) => (request === "create a" ? new ApiError("InternalError", "no") : undefined);
    rig.want(a1, staticPod("b", "b1"));
    await rig.clock.advance(50);
    expect(rig.hashOf("b")).toBe("b1");
  });

  it.each(["lost", "unheard"] as const)("of a request that was %s end in one mirror", async (fault) => {
    const rig = setUp();
    const faulty = new Set(["create a", "delete a"]);
    rig.fault = (request) => (faulty.delete(request) ? fault : undefined);
    rig.want(a1);
    await rig.clock.advance(10_000);
    expect(rig.hashOf()).toBe("a1");
    rig.want(a2);
    await rig.clock.advance(10_000);
    expect(rig.hashOf()).toBe("a2");
    rig.want();
    await rig.clock.advance(10_000);
    expect(rig.get("a")).toBeUndefined();
    expect(rig.violations).toEqual([]);
  });
});

it("leaves nothing behind when it is stopped", async () => {
  const rig = createMirrorRig();
  const run = rig.run();
  rig.want(a1);
  await rig.clock.advance(1);
  rig.stop();
  await run;
  expect(rig.clock.pendingTimers).toBe(0);
  rig.update();
  await rig.clock.advance(60_000);
  expect(rig.requests).toEqual(["create a"]);
});
