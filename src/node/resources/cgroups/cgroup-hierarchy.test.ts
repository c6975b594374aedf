import { describe, expect, it } from "vitest";
import { createFakeCgroupTree } from "../../../host/fake/fake-cgroup-tree.ts";
import { createCgroupsRig, createSystemdRig, failing, NODE_LIMITS } from "./__fixtures__/cgroups-rig.ts";
import { checkCgroupRoot } from "./cgroup-hierarchy.ts";

describe("the hierarchy of cgroups", () => {
  it("is one for all pods and one for each class but the guaranteed", async () => {
    const { hierarchy, tree, stopping } = createCgroupsRig();
    expect(hierarchy.current()).toBeUndefined();
    const standing = await hierarchy.raise(stopping.signal);
    expect(Object.fromEntries(tree.limits)).toEqual({
      "/kubepods": NODE_LIMITS,
      "/kubepods/burstable": { cpuShares: 0n },
      "/kubepods/besteffort": { cpuShares: 2n },
    });
    expect(hierarchy.current()).toBe(standing);
    expect(await hierarchy.standing(stopping.signal)).toBe(standing);
  });

  it("takes over what is there, without changing what all pods may have", async () => {
    const { hierarchy, tree, stopping } = createCgroupsRig();
    await tree.make("/kubepods/burstable/podx");
    await tree.limit("/kubepods", { memoryBytes: 5n });
    await hierarchy.raise(stopping.signal);
    expect(tree.limits.get("/kubepods")).toEqual({ memoryBytes: 5n });
    expect(tree.findLack("/kubepods/burstable/podx")).toBeUndefined();
  });

  it("is tried again; whoever waits for it hears why meanwhile", async () => {
    const { clock, hierarchy, tree, stopping, warnings } = createCgroupsRig();
    tree.fault = failing("make", "/kubepods/burstable", { times: 2 });
    const waiting = expect(hierarchy.standing(stopping.signal)).rejects.toMatchObject({ code: "ENOSPC" });
    const raised = hierarchy.raise(stopping.signal);
    await waiting;
    await clock.advance(1_000);
    await expect(hierarchy.standing(stopping.signal)).rejects.toMatchObject({ code: "ENOSPC" });
    await clock.advance(2_000);
    await raised;
    expect((await hierarchy.standing(stopping.signal)).driver).toBe("cgroupfs");
    expect(warnings).toHaveLength(2);
  });

  it("waits for the runtime to be there, and so does who needs it", async () => {
    let isThere = false;
    const askRuntime = async () => {
      if (!isThere) throw new Error("unavailable");
    };
    const { clock, hierarchy, stopping, warnings } = createCgroupsRig({ askRuntime });
    const standing = hierarchy.standing(stopping.signal);
    const raised = hierarchy.raise(stopping.signal);
    await clock.advance(30_000);
    expect(hierarchy.current()).toBeUndefined();
    isThere = true;
    await clock.advance(1_000);
    expect(await standing).toBe(await raised);
    expect(warnings).toEqual([]);
  });

  it("stands where a limit is refused, which is said", async () => {
    const { hierarchy, tree, stopping, warnings } = createCgroupsRig();
    tree.fault = failing("limit", "/kubepods");
    await hierarchy.raise(stopping.signal);
    expect(warnings).toEqual(["A cgroup cannot be limited yet, will be tried again"]);
  });

  it("is given up where nobody may make cgroups, with the mend", async () => {
    const { hierarchy, tree, stopping } = createCgroupsRig();
    tree.fault = failing("make", "/kubepods", { code: "EROFS" });
    await expect(hierarchy.raise(stopping.signal)).rejects.toThrow(/may not make cgroups: EROFS.*cgroupsPerQOS: false/);
    await expect(hierarchy.standing(stopping.signal)).rejects.toThrow(/cgroupsPerQOS: false/);
  });

  it("is given up where a cgroup lacks controllers though it was made, with the mend", async () => {
    const { hierarchy, tree, stopping } = createCgroupsRig();
    tree.findLack = () => "has some missing controllers: cpu, memory";
    await expect(hierarchy.raise(stopping.signal)).rejects.toThrow(
      /error validating root container \[kubepods\] : cgroup \["kubepods"\] has some missing controllers.*cgroupsPerQOS: false/,
    );
  });

  it("is made of slices where the runtime has systemd make its cgroups", async () => {
    const { hierarchy, systemd, tree, stopping } = createSystemdRig();
    const standing = await hierarchy.raise(stopping.signal);
    expect(Object.fromEntries(tree.limits)).toEqual({
      "/kubepods.slice": NODE_LIMITS,
      "/kubepods.slice/kubepods-burstable.slice": { cpuShares: 0n },
      "/kubepods.slice/kubepods-besteffort.slice": { cpuShares: 2n },
    });
    expect([...systemd.units.keys()]).toEqual([
      "kubepods.slice",
      "kubepods-burstable.slice",
      "kubepods-besteffort.slice",
    ]);
    expect(standing.driver).toBe("systemd");
  });

  it("is given up where systemd is to make the cgroups and there is none, with the mend", async () => {
    const { hierarchy, tree, stopping } = createCgroupsRig({ driver: "systemd" });
    await expect(hierarchy.raise(stopping.signal)).rejects.toThrow(/cgroupDriver: cgroupfs.*cgroupsPerQOS: false/);
    expect(tree.limits.size).toBe(0);
  });

  it("ends with the signal while it is tried again", async () => {
    const { clock, hierarchy, tree, stopping } = createCgroupsRig();
    tree.fault = failing("make", "/kubepods");
    const raised = expect(hierarchy.raise(stopping.signal)).rejects.toMatchObject({ name: "AbortError" });
    await clock.advance(10);
    stopping.abort();
    await raised;
    expect(clock.untilNextTimer()).toBeUndefined();
  });
});

describe("the configured root", () => {
  it("must be there, in upstream's words and with the mend", () => {
    const tree = createFakeCgroupTree({ made: () => undefined, removed: () => undefined });
    expect(() => checkCgroupRoot(tree, "/")).not.toThrow();
    expect(() => checkCgroupRoot(tree, "/a/b")).toThrow(
      /^invalid configuration: cgroup \["a" "b"\] has some missing paths: \/sys.*cgroupsPerQOS: false/,
    );
  });

  it("is a slice where systemd makes the cgroups, which is known once the runtime has told so", async () => {
    const tree = createFakeCgroupTree({ made: () => undefined, removed: () => undefined });
    await tree.make("/a.slice/a-b.slice");
    expect(() => checkCgroupRoot(tree, "/a/b")).not.toThrow();
    expect(() => checkCgroupRoot(tree, "/a/b", ["systemd"])).not.toThrow();
    expect(() => checkCgroupRoot(tree, "/a/b", ["cgroupfs"])).toThrow(/^invalid configuration: cgroup \["a" "b"\] has/);
  });
});
