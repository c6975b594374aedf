import { describe, expect, it } from "vitest";
import { NO_CGROUP_MEMORY } from "../../../host/cgroups-port.ts";
import {
  type CgroupsRig,
  createCgroupsRig,
  createSystemdRig,
  failing,
  makeGuaranteedPod,
  makePod,
  POD_LIMITS,
} from "./__fixtures__/cgroups-rig.ts";

async function createStanding(): Promise<CgroupsRig> {
  const rig = createCgroupsRig();
  await rig.hierarchy.raise(rig.stopping.signal);
  return rig;
}

const ensure = async ({ pods, stopping }: CgroupsRig, pod: ReturnType<typeof makePod>, isNew = true) =>
  await pods.ensure(pod, { isNew, signal: stopping.signal });
const release = async ({ pods, stopping }: CgroupsRig, uid: string, qosClass?: "Burstable" | "BestEffort") =>
  await pods.release({ uid, qosClass }, stopping.signal);
const burstableShares = ({ tree }: CgroupsRig) => tree.limits.get("/kubepods/burstable")?.cpuShares;

describe("the cgroup of a pod", () => {
  it("is made in that of its class, limited, and told to the runtime", async () => {
    const rig = await createStanding();
    await ensure(rig, makePod("a"));
    await ensure(rig, makePod("b", 100));
    expect(rig.tree.limits.get("/kubepods/besteffort/poda")).toEqual(POD_LIMITS);
    expect(rig.tree.limits.get("/kubepods/burstable/podb")).toEqual(POD_LIMITS);
    expect(rig.pods.parentOf(makePod("a"))).toBe("/kubepods/besteffort/poda");
  });

  it("waits for the hierarchy to stand", async () => {
    const rig = createCgroupsRig();
    const ensured = ensure(rig, makePod("a"));
    expect(rig.tree.limits.size).toBe(0);
    await rig.hierarchy.raise(rig.stopping.signal);
    await ensured;
    expect(rig.tree.limits.has("/kubepods/besteffort/poda")).toBe(true);
  });

  it("stays as it is while the pod runs, and is made where a running pod has none", async () => {
    const rig = await createStanding();
    await rig.tree.make("/kubepods/besteffort/poda");
    await ensure(rig, makePod("a"), false);
    expect(rig.tree.limits.get("/kubepods/besteffort/poda")).toEqual({});
    await ensure(rig, makePod("b"), false);
    expect(rig.tree.limits.get("/kubepods/besteffort/podb")).toEqual(POD_LIMITS);
  });

  it("is limited anew while nothing runs in it: whoever made it may have been killed before that", async () => {
    const rig = await createStanding();
    await rig.tree.make("/kubepods/besteffort/poda");
    await ensure(rig, makePod("a"), true);
    expect(rig.tree.limits.get("/kubepods/besteffort/poda")).toEqual(POD_LIMITS);
  });

  it("that cannot be made is an error in upstream's words", async () => {
    const rig = await createStanding();
    rig.tree.fault = failing("make", "/kubepods/besteffort/poda");
    await expect(ensure(rig, makePod("a"))).rejects.toThrow(
      /^failed to create container for \[kubepods besteffort poda\] : ENOSPC/,
    );
  });

  it("whose limits do not fit keeps no pod away", async () => {
    const rig = await createStanding();
    rig.tree.fault = failing("limit", "/kubepods/besteffort/poda");
    await ensure(rig, makePod("a"));
    expect(rig.warnings).toEqual(["A pod's cgroup cannot be limited as the pod asks for"]);
  });

  it("is removed with what still runs in it", async () => {
    const rig = await createStanding();
    await ensure(rig, makePod("a"));
    rig.tree.enter("/kubepods/besteffort/poda/container", 4_711);
    await release(rig, "a", "BestEffort");
    expect(rig.tree.killed).toEqual([4_711]);
    expect(rig.tree.children("/kubepods/besteffort")).toEqual([]);
    await release(rig, "a", "BestEffort");
  });

  it("of an orphan is found in whichever class it is", async () => {
    const rig = await createStanding();
    for (const path of ["/kubepods/poda", "/kubepods/burstable/podb"]) await rig.tree.make(path);
    await release(rig, "a");
    await release(rig, "b");
    expect(rig.tree.children("/kubepods").toSorted()).toEqual(["besteffort", "burstable"]);
    expect(rig.tree.children("/kubepods/burstable")).toEqual([]);
  });

  it("that cannot be removed is an error", async () => {
    const rig = await createStanding();
    await ensure(rig, makePod("a"));
    rig.tree.fault = failing("remove", "/kubepods/besteffort/poda", { code: "EBUSY" });
    await expect(release(rig, "a", "BestEffort")).rejects.toThrow(
      /^failed to delete cgroup paths for \[kubepods besteffort poda\] : EBUSY/,
    );
  });
});

describe("the cgroup of the burstable pods", () => {
  it("has as many shares as they ask for together", async () => {
    const rig = await createStanding();
    await ensure(rig, makePod("a", 100));
    await ensure(rig, makePod("b", 200));
    await ensure(rig, makePod("c"));
    expect(burstableShares(rig)).toBe(300n);
    await ensure(rig, makePod("a", 150), false);
    expect(burstableShares(rig)).toBe(350n);
    await release(rig, "b", "Burstable");
    expect(burstableShares(rig)).toBe(150n);
    await release(rig, "a");
    expect(burstableShares(rig)).toBe(0n);
    expect(rig.pods.podUids()).toEqual([]);
  });

  it("that could not be changed is changed with the next pod, and within a minute", async () => {
    const rig = await createStanding();
    rig.tree.fault = failing("limit", "/kubepods/burstable", { times: 1 });
    await ensure(rig, makePod("a", 100));
    expect(burstableShares(rig)).toBe(0n);
    const running = rig.pods.run(rig.stopping.signal);
    await rig.clock.advance(60_000);
    expect(burstableShares(rig)).toBe(100n);
    await rig.tree.limit("/kubepods/besteffort", { cpuShares: 77n });
    await rig.clock.advance(60_000);
    expect(rig.tree.limits.get("/kubepods/besteffort")?.cpuShares).toBe(2n);
    expect(rig.tree.limits.get("/kubepods")?.hugepages).toEqual(new Map([["2MB", 1n]]));
    rig.stopping.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the memory of the classes", () => {
  const burstableMemory = ({ tree }: CgroupsRig) => tree.limits.get("/kubepods/burstable")?.memoryBytes;
  const begin = async (used?: number) => {
    const usage = { cpu: undefined, pids: [], pressure: {}, details: undefined };
    const readUsage = async () => ({ ...usage, memory: { ...NO_CGROUP_MEMORY, usage: used ?? 0 } });
    const rig = createCgroupsRig({ classMemory: 1_000n, readUsage });
    await rig.hierarchy.raise(rig.stopping.signal);
    return rig;
  };

  it("follows what the pods of better classes ask for", async () => {
    const rig = await begin();
    expect(burstableMemory(rig)).toBe(1_000n);
    await ensure(rig, makeGuaranteedPod("a", 300));
    expect(burstableMemory(rig)).toBe(700n);
    await ensure(rig, makeGuaranteedPod("a", 500), false);
    expect(burstableMemory(rig)).toBe(500n);
    await ensure(rig, makePod("b", 100));
    await rig.pods.release({ uid: "a", qosClass: "Guaranteed" }, rig.stopping.signal);
    expect(burstableMemory(rig)).toBe(1_000n);
    expect(rig.requests.at(-2)).toEqual({
      Guaranteed: { milliCpu: 500n, memoryBytes: 500n },
      Burstable: { milliCpu: 100n, memoryBytes: 100n },
    });
  });

  it("is not taken from processes that have it, which just get no more", async () => {
    const rig = await begin(800);
    await ensure(rig, makeGuaranteedPod("a", 100));
    expect(burstableMemory(rig)).toBe(900n);
    await ensure(rig, makeGuaranteedPod("b", 300));
    expect(burstableMemory(rig)).toBe(800n);
  });
});

it("what pods ask for is protected in the cgroup above all of them as well, where that is the node's own", async () => {
  const rig = createCgroupsRig({ protectedRoot: "/own" });
  await rig.tree.make("/own");
  await rig.hierarchy.raise(rig.stopping.signal);
  const protectedBytes = () => ["/own", "/own/kubepods"].map((path) => rig.tree.limits.get(path)?.memoryMin);
  await ensure(rig, makeGuaranteedPod("a", 300));
  await ensure(rig, makePod("b", 100));
  expect(protectedBytes()).toEqual([400n, 400n]);
  await release(rig, "a");
  expect(protectedBytes()).toEqual([100n, 100n]);
});

describe("where systemd makes the cgroups", () => {
  const SLICE = "kubepods-besteffort-poda_b.slice";
  const PATH = `/kubepods.slice/kubepods-besteffort.slice/${SLICE}`;

  it("a pod's start and its end are one call each", async () => {
    const rig = createSystemdRig();
    await rig.hierarchy.raise(rig.stopping.signal);
    const before = rig.systemd.calls.length;
    await ensure(rig, makePod("a-b"));
    expect(rig.pods.parentOf(makePod("a-b"))).toBe(PATH);
    expect(rig.tree.limits.get(PATH)).toEqual(POD_LIMITS);
    await release(rig, "a-b", "BestEffort");
    expect(rig.systemd.calls.slice(before)).toEqual([`StartTransientUnit ${SLICE}`, `StopUnit ${SLICE}`]);
    expect(rig.systemd.units.has(SLICE)).toBe(false);
  });

  it("pods that nobody knows are found, and stay where something runs in them", async () => {
    const rig = createSystemdRig();
    await rig.hierarchy.raise(rig.stopping.signal);
    for (const uid of ["a-b", "c"]) await ensure(rig, makePod(uid));
    rig.tree.enter("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podc.slice/cri-x.scope", 5);
    await rig.pods.collect(() => false);
    expect([rig.systemd.units.has(SLICE), rig.systemd.units.has("kubepods-besteffort-podc.slice")]).toEqual([
      false,
      true,
    ]);
    expect(rig.tree.killed).toEqual([]);
  });

  it("a burst of pods changes their class by few calls, and by what they ask for in the end", async () => {
    const rig = createSystemdRig();
    await rig.hierarchy.raise(rig.stopping.signal);
    const before = rig.systemd.calls.length;
    await Promise.all(Array.from({ length: 50 }, async (_, index) => await ensure(rig, makePod(`p${index}`, 10))));
    const changes = rig.systemd.calls.slice(before).filter((call) => call.startsWith("SetUnitProperties"));
    expect(changes.length).toBeLessThan(5);
    expect(rig.systemd.units.get("kubepods-burstable.slice")?.get("CPUWeight")).toBe(1n + (498n * 9_999n) / 262_142n);
  });
});

describe("cgroups of pods that nobody knows", () => {
  it("go where nothing runs in them, and stay where something does", async () => {
    const rig = await createStanding();
    for (const uid of ["gone", "known"]) await rig.tree.make(`/kubepods/besteffort/pod${uid}`);
    await rig.tree.make("/kubepods/burstable/other");
    rig.tree.enter("/kubepods/burstable/podbusy/container", 5);
    await rig.pods.collect((uid) => uid === "known");
    expect(rig.tree.children("/kubepods/besteffort")).toEqual(["podknown"]);
    expect(rig.tree.children("/kubepods/burstable").toSorted()).toEqual(["other", "podbusy"]);
    expect(rig.tree.killed).toEqual([]);
  });

  it("are not looked for before the hierarchy stands", async () => {
    const rig = createCgroupsRig();
    await rig.tree.make("/kubepods/besteffort/podgone");
    await rig.pods.collect(() => false);
    expect(rig.tree.children("/kubepods/besteffort")).toEqual(["podgone"]);
  });

  it("do not take a pod along that comes back while they are removed", async () => {
    const rig = await createStanding();
    await rig.tree.make("/kubepods/besteffort/poda");
    const collected = rig.pods.collect(() => false);
    const ensured = ensure(rig, makePod("a"));
    await Promise.all([collected, ensured]);
    expect(rig.tree.limits.get("/kubepods/besteffort/poda")).toEqual(POD_LIMITS);
  });
});
