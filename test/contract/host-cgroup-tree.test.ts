import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { CgroupLimits, CgroupTree } from "../../src/host/cgroup-tree-port.ts";
import { createFakeCgroupTree } from "../../src/host/fake/fake-cgroup-tree.ts";
import { emptyContainerRoot } from "../../src/host/linux/cgroups/empty-root.ts";
import { createLinuxCgroups } from "../../src/host/linux/cgroups/linux-cgroups.ts";

const KERNEL = "/sys/fs/cgroup";
/** Both versions may be mounted: then there is a tree of version 2 whose controllers are those that version 1 left over. */
const UNIFIED = [KERNEL, `${KERNEL}/unified`].find((root) => existsSync(`${root}/cgroup.controllers`));
const MIB = 1024n * 1024n;

interface TreeUnderTest {
  readonly tree: CgroupTree;
  /** Puts a process in, which `leave` ends. */
  enter(path: string): Promise<{ pid: number; leave(): Promise<void> }>;
}

/** Beneath it everything happens; gone after each test. */
const OWN = `/nodelet-contract-${process.pid}`;
const cleanUps: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function isWritable(directory: string | undefined): directory is string {
  try {
    if (directory === undefined) return false;
    accessSync(directory, constants.W_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

function createFake(): TreeUnderTest {
  const tree = createFakeCgroupTree({ made: () => undefined, removed: () => undefined });
  let pid = 100;
  return {
    tree,
    async enter(path) {
      const own = pid++;
      tree.enter(path, own);
      return { pid: own, leave: async () => tree.leave(own) };
    },
  };
}

/** A process moves itself where the files of the kernel say; of version 1 into the hierarchy that counts processors. */
function createReal(root: string, procsBelow: string): TreeUnderTest {
  const tree = createLinuxCgroups({ root });
  cleanUps.push(async () => await tree.remove(OWN, { killing: true }));
  return {
    tree,
    async enter(path) {
      const child = spawn("sh", ["-c", `echo $$ > "${procsBelow}${path}/cgroup.procs" && echo in && exec sleep 60`]);
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      cleanUps.push(async () => void child.kill("SIGKILL"));
      await new Promise<void>((resolve, reject) => {
        child.stdout.once("data", () => resolve());
        child.once("exit", () => reject(new Error("the process could not enter its cgroup")));
      });
      return {
        pid: child.pid ?? 0,
        async leave() {
          child.kill("SIGKILL");
          await exited;
        },
      };
    },
  };
}

const isV1 = existsSync(`${KERNEL}/cpu/cgroup.procs`);
const subjects: ReadonlyArray<readonly [string, boolean, () => TreeUnderTest]> = [
  ["fake", true, createFake],
  ["version 1 of the kernel", isV1 && isWritable(`${KERNEL}/cpu`), () => createReal(KERNEL, `${KERNEL}/cpu`)],
  ["version 2 of the kernel", isWritable(UNIFIED), () => createReal(UNIFIED ?? "", UNIFIED ?? "")],
];

for (const [name, isPossible, create] of subjects) {
  describe.skipIf(!isPossible)(`the tree of cgroups: ${name}`, () => {
    it("grows with all parents, and is the same when it is made again", async () => {
      const { tree } = create();
      expect(tree.findLack("/")).toBeUndefined();
      expect(tree.findLack(`${OWN}/a/b`)).toMatch(/^has (some missing (paths|controllers)|no controllers): /);
      await tree.make(`${OWN}/a/b`);
      await tree.make(`${OWN}/a/b`);
      await tree.make(`${OWN}/a/c`);
      for (const path of [OWN, `${OWN}/a`, `${OWN}/a/b`]) expect(tree.findLack(path)).toBeUndefined();
      expect(tree.children(`${OWN}/a`).toSorted()).toEqual(["b", "c"]);
      expect(tree.children(`${OWN}/none`)).toEqual([]);
    });

    it("is removed with all below it, and where it is not there", async () => {
      const { tree } = create();
      await tree.make(`${OWN}/a/b/c`);
      await tree.remove(`${OWN}/a`, { killing: false });
      expect(tree.children(OWN)).toEqual([]);
      expect(tree.findLack(`${OWN}/a`)).toBeDefined();
      await tree.remove(`${OWN}/a`, { killing: false });
      await expect(tree.remove(`${OWN}/a`, { killing: true })).resolves.toBeUndefined();
    });

    it("knows the processes in it, and keeps them where nobody says to kill", async () => {
      const { tree, enter } = create();
      await tree.make(`${OWN}/a/b`);
      const { pid, leave } = await enter(`${OWN}/a/b`);
      expect(tree.processes(`${OWN}/a`)).toEqual([pid]);
      expect(tree.processes(`${OWN}/none`)).toEqual([]);
      await expect(tree.remove(`${OWN}/a`, { killing: false })).rejects.toMatchObject({ code: "EBUSY" });
      expect(tree.processes(OWN)).toEqual([pid]);
      await leave();
      await tree.remove(`${OWN}/a`, { killing: true });
      expect(tree.processes(OWN)).toEqual([]);
    });

    it("is removed with the processes in it where that is asked for", async () => {
      const { tree, enter } = create();
      await tree.make(`${OWN}/a/b`);
      await enter(`${OWN}/a/b`);
      await tree.remove(`${OWN}/a`, { killing: true });
      expect(tree.children(OWN)).toEqual([]);
    });

    it("does not limit what is not there", async () => {
      const { tree } = create();
      await expect(tree.limit(`${OWN}/none`, { cpuShares: 2n, hugepages: new Map() })).rejects.toMatchObject({
        code: "ENOENT",
      });
    });
  });
}

const LIMITS: CgroupLimits = {
  cpuShares: 512n,
  cpuQuotaMicroseconds: 50_000n,
  cpuPeriodMicroseconds: 100_000n,
  memoryBytes: 64n * MIB,
  maxTasks: 100n,
};

describe.skipIf(!isV1 || !isWritable(`${KERNEL}/cpu`))("limits of version 1", () => {
  const read = (controller: string, file: string) =>
    readFileSync(`${KERNEL}/${controller}${OWN}/a/${file}`, "utf8").trim();

  it("are the kernel's, and those that are not named stay", async () => {
    const { tree } = createReal(KERNEL, "");
    await tree.make(`${OWN}/a`);
    await tree.limit(`${OWN}/a`, LIMITS);
    await tree.limit(`${OWN}/a`, { cpuShares: 2n });
    expect(read("cpu", "cpu.shares")).toBe("2");
    expect(read("cpu", "cpu.cfs_quota_us")).toBe("50000");
    expect(read("cpu", "cpu.cfs_period_us")).toBe("100000");
    expect(read("memory", "memory.limit_in_bytes")).toBe("67108864");
    expect(read("pids", "pids.max")).toBe("100");
  });

  it("change to a shorter period than the old quota fits, and to none", async () => {
    const { tree } = createReal(KERNEL, "");
    await tree.make(`${OWN}/a/b`);
    await tree.limit(`${OWN}/a`, { cpuQuotaMicroseconds: 20_000n, cpuPeriodMicroseconds: 100_000n });
    await tree.limit(`${OWN}/a/b`, { cpuQuotaMicroseconds: 20_000n, cpuPeriodMicroseconds: 100_000n });
    await tree.limit(`${OWN}/a/b`, { cpuQuotaMicroseconds: 2_000n, cpuPeriodMicroseconds: 10_000n });
    expect(readFileSync(`${KERNEL}/cpu${OWN}/a/b/cpu.cfs_period_us`, "utf8").trim()).toBe("10000");
    await tree.limit(`${OWN}/a`, { cpuQuotaMicroseconds: -1n, cpuPeriodMicroseconds: 100_000n });
    expect(read("cpu", "cpu.cfs_quota_us")).toBe("-1");
  });

  it("make a cpuset that processes may enter", async () => {
    const { tree } = createReal(KERNEL, "");
    await tree.make(`${OWN}/a`);
    expect(read("cpuset", "cpuset.cpus")).not.toBe("");
    expect(read("cpuset", "cpuset.mems")).not.toBe("");
  });
});

describe("version 1", () => {
  it("is of no use without what counts processors and memory", async () => {
    const root = await mkdtemp(join(tmpdir(), "nodelet-cgroups-"));
    cleanUps.push(async () => await rm(root, { recursive: true, force: true }));
    const mount = async (name: string): Promise<void> => {
      await mkdir(join(root, name));
      await writeFile(join(root, name, "cgroup.procs"), "");
    };
    for (const name of ["cpu,cpuacct", "pids", "other"]) await mount(name);
    await mkdir(join(root, "perf_event"));
    const tree = createLinuxCgroups({ root });
    expect(tree.findLack("/")).toMatch(/not mounted: \[cpuset memory\]$/);
    for (const name of ["cpuset", "memory"]) await mount(name);
    const complete = createLinuxCgroups({ root });
    expect(complete.findLack("/")).toBeUndefined();
    await complete.make("/a/b");
    expect(existsSync(join(root, "cpu,cpuacct/a/b"))).toBe(true);
    expect(existsSync(join(root, "other/a"))).toBe(false);
    expect(existsSync(join(root, "perf_event/a"))).toBe(false);
  });
});

describe.skipIf(!isWritable(UNIFIED))("the root of a container's cgroups", () => {
  it("is emptied into one beneath it, and only where it is not that of the whole machine", async () => {
    const root = `${UNIFIED}${OWN}`;
    const { tree, enter } = createReal(`${UNIFIED}`, `${UNIFIED}`);
    await tree.make(OWN);
    const inside = [await enter(OWN), await enter(OWN)];
    expect(emptyContainerRoot(root)).toBe(2);
    expect(await readFile(`${root}/cgroup.procs`, "utf8")).toBe("");
    const moved = (await readFile(`${root}/init/cgroup.procs`, "utf8")).trim().split("\n").map(Number);
    expect(moved.toSorted()).toEqual(inside.map(({ pid }) => pid).toSorted());
    expect(emptyContainerRoot(root)).toBe(0);
  });

  it("stays as it is on a machine of its own, and with version 1", () => {
    expect(emptyContainerRoot(UNIFIED)).toBe(0);
    expect(emptyContainerRoot("/proc")).toBe(0);
  });
});

describe("version 2", () => {
  const FILES = [
    "cpu.weight",
    "cpu.max",
    "memory.max",
    "memory.min",
    "memory.low",
    "memory.current",
    "pids.max",
    "hugetlb.2MB.max",
  ];
  const CONTROLLERS = "cpuset cpu memory hugetlb pids\n";

  /** A tree as the kernel would have made it, whose files only keep what is written to them. */
  async function createCopy(levels: readonly string[]): Promise<{ root: string; tree: CgroupTree }> {
    const root = await mkdtemp(join(tmpdir(), "nodelet-cgroups-"));
    cleanUps.push(async () => await rm(root, { recursive: true, force: true }));
    const put = async (path: string, text: string) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    };
    for (const level of ["", ...levels]) {
      await put(`${level}/cgroup.controllers`, CONTROLLERS);
      await put(`${level}/cgroup.subtree_control`, "");
      for (const file of FILES) await put(`${level}/${file}`, file === "memory.current" ? "0\n" : "");
    }
    return { root, tree: createLinuxCgroups({ root }) };
  }

  it.each([
    [{ cpuShares: 2n }, "cpu.weight", "1"],
    [{ cpuShares: 1_024n }, "cpu.weight", "39"],
    [{ cpuShares: 262_144n }, "cpu.weight", "10000"],
    [{ cpuQuotaMicroseconds: 50_000n, cpuPeriodMicroseconds: 100_000n }, "cpu.max", "50000 100000"],
    [{ cpuQuotaMicroseconds: -1n, cpuPeriodMicroseconds: 20_000n }, "cpu.max", "max 20000"],
    [{ cpuQuotaMicroseconds: 5_000n }, "cpu.max", "5000 100000"],
    [{ memoryBytes: 64n * MIB }, "memory.max", "67108864"],
    [{ memoryBytes: 0n }, "memory.max", ""],
    [{ maxTasks: 100n }, "pids.max", "100"],
    [{ memoryMin: 4n * MIB }, "memory.min", "4194304"],
    [{ memoryLow: 0n }, "memory.low", "0"],
    [{ hugepages: new Map([["2MB", 4n * MIB]]) }, "hugetlb.2MB.max", "4194304"],
    [{ hugepages: new Map([["1GB", 0n]]) }, "hugetlb.2MB.max", ""],
  ] satisfies ReadonlyArray<readonly [CgroupLimits, string, string]>)("writes %o as %s", async (limits, file, text) => {
    const { root, tree } = await createCopy(["/a"]);
    await tree.limit("/a", limits);
    expect(await readFile(join(root, "a", file), "utf8")).toBe(text);
  });

  it("hands the controllers down on the way", async () => {
    const { root, tree } = await createCopy(["/a", "/a/b"]);
    await tree.make("/a/b");
    const all = "+cpuset +cpu +memory +hugetlb +pids";
    for (const level of ["", "a"])
      expect(await readFile(join(root, level, "cgroup.subtree_control"), "utf8")).toBe(all);
    expect(await readFile(join(root, "a/b/cgroup.subtree_control"), "utf8")).toBe("");
  });

  it("lacks what the one above did not hand down", async () => {
    const { root, tree } = await createCopy(["/a"]);
    await writeFile(join(root, "a/cgroup.controllers"), "cpu pids\n");
    expect(tree.findLack("/a")).toBe("has some missing controllers: cpuset, hugetlb, memory");
  });
});
