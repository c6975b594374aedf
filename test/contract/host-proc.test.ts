import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createFakeProc } from "../../src/host/fake/fake-proc.ts";
import { createProcfs } from "../../src/host/linux/system/procfs.ts";
import type { DiskActivity, Proc } from "../../src/host/proc-port.ts";

const LO = { name: "lo", received: count(700, 7, 0, 0), sent: count(700, 7, 0, 0) };
const ETH0 = { name: "eth0", received: count(1_234, 12, 1, 2), sent: count(5_678, 34, 3, 4) };
const CPU = {
  some: { avg10: 1.5, avg60: 0.6, avg300: 0.3, totalMicroseconds: 150_000 },
  full: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 0 },
};

function count(bytes: number, packets: number, errors: number, dropped: number) {
  return { bytes, packets, errors, dropped };
}

/** The lines of a machine with a disk, a partition and a device without counters. */
const DISKSTATS = `   8       0 sda 9010 12 706338 3521 4404 6012 190378 5410 3 4932 9001 0 0 0 0 120 70
   8       1 sda1 8800 12 700002 3500 4404 6012 190378 5410 0 4900 8910
   1       0 ram0
`;
const READ_FROM_PARTITION = { merged: 12, sectors: 700_002, milliseconds: 3_500 };
const WRITES = { count: 4_404, merged: 6_012, sectors: 190_378, milliseconds: 5_410 };
const DISKS: DiskActivity[] = [
  {
    ...{ device: "/dev/sda", numbers: "8:0", current: 3, busyMilliseconds: 4_932, weightedMilliseconds: 9_001 },
    reads: { count: 9_010, merged: 12, sectors: 706_338, milliseconds: 3_521 },
    writes: WRITES,
  },
  {
    ...{ device: "/dev/sda1", numbers: "8:1", current: 0, busyMilliseconds: 4_900, weightedMilliseconds: 8_910 },
    reads: { count: 8_800, ...READ_FROM_PARTITION },
    writes: WRITES,
  },
];
const limitsOf = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units     
Max stack size            8388608              unlimited            bytes     
Max open files            ${soft.padEnd(20)} 1048576              files     
`;

/** What the descriptors of two processes show. */
const LINKS = {
  41: ["/dev/null", "socket:[4711]", "pipe:[12]", "anon_inode:[eventpoll]", "socket:[4712]"],
  42: ["/var/log/socket"],
};

const FILES = {
  "1/net/dev": `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     700       7    0    0    0     0          0         0      700       7    0    0    0     0       0          0
  eth0:    1234      12    1    2    0     0          0         0     5678      34    3    4    0     0       0          0
`,
  "sys/kernel/pid_max": "4194304\n",
  "sys/kernel/threads-max": "32768\n",
  loadavg: "0.36 0.49 0.53 2/313 3715089\n",
  stat: "cpu  1 2 3 4\nbtime 1767225600\nprocesses 5\n",
  "sys/kernel/panic": "-1\n",
  "sys/vm/overcommit_memory": "0\n",
  "41/limits": limitsOf("1024"),
  "42/limits": limitsOf("unlimited"),
  diskstats: DISKSTATS,
  "pressure/cpu": "some avg10=1.50 avg60=0.60 avg300=0.30 total=150000\n",
};

const temporary: string[] = [];
afterEach(async () => {
  for (const path of temporary.splice(0)) await rm(path, { recursive: true, force: true });
});

async function createReal(files: Record<string, string> = FILES): Promise<Proc> {
  const proc = await mkdtemp(join(tmpdir(), "nodelet-proc-"));
  temporary.push(proc);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(proc, path)), { recursive: true });
    await writeFile(join(proc, path), text);
  }
  for (const [pid, links] of Object.entries(LINKS)) {
    await mkdir(join(proc, pid, "fd"), { recursive: true });
    for (const [name, target] of links.entries()) await symlink(target, join(proc, pid, "fd", String(name)));
  }
  return createProcfs({ proc });
}

async function createFake(): Promise<Proc> {
  const proc = createFakeProc();
  proc.interfaces.set(1, [LO, ETH0]);
  proc.openByPid.set(41, { files: { descriptors: 5, sockets: 2 }, limit: 1_024 });
  proc.openByPid.set(42, { files: { descriptors: 1, sockets: 0 }, limit: -1 });
  proc.disks = DISKS;
  proc.taskCounts = { current: 313, max: 32_768 };
  proc.nodePressure = { cpu: CPU };
  proc.bootTime = Date.UTC(2026, 0, 1);
  proc.tunables.set("kernel/panic", -1).set("vm/overcommit_memory", 0);
  return proc;
}

describe.each([
  ["fake", createFake],
  ["node", async () => await createReal()],
])("procfs: %s", (_name, create) => {
  it("counts what the interfaces of a process's network carried", async () => {
    const proc = await create();
    expect(await proc.interfacesOf(1)).toEqual([LO, ETH0]);
    expect(await proc.interfacesOf(2)).toBeUndefined();
  });

  it("counts what processes have open, and says how much they may", async () => {
    const proc = await create();
    expect(await proc.openFiles([41, 42, 43])).toEqual({ descriptors: 6, sockets: 2 });
    expect(await proc.openFiles([])).toEqual({ descriptors: 0, sockets: 0 });
    const many = Array.from({ length: 1_025 }, (_none, index) => index + 100);
    expect(await proc.openFiles(many)).toBeUndefined();
    expect(await Promise.all([41, 42, 43].map(async (pid) => await proc.openFileLimit(pid)))).toEqual([
      1_024,
      -1,
      undefined,
    ]);
  });

  it("tells what each block device did", async () => {
    expect(await (await create()).diskActivity()).toEqual(DISKS);
  });

  it("tells of the machine's tasks, of what they wait for, and since when it runs", async () => {
    const proc = await create();
    expect(await proc.tasks()).toEqual({ current: 313, max: 32_768 });
    expect(await proc.pressure()).toEqual({ cpu: CPU });
    expect(await proc.bootedAt()).toBe(Date.UTC(2026, 0, 1));
  });

  it("reads and sets the kernel's tunables", async () => {
    const proc = await create();
    expect(await proc.tunable("vm/overcommit_memory")).toBe(0);
    expect(await proc.tunable("kernel/panic")).toBe(-1);
    await proc.setTunable("vm/overcommit_memory", 1);
    expect(await proc.tunable("vm/overcommit_memory")).toBe(1);
    expect(await proc.tunable("kernel/absent")).toBeUndefined();
    await expect(proc.setTunable("kernel/absent", 1)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("procfs of the kernel", () => {
  it("is told as far as there is something", async () => {
    const proc = await createReal({});
    expect(await proc.tasks()).toEqual({ current: undefined, max: undefined });
    expect(await proc.pressure()).toEqual({});
    expect(await proc.bootedAt()).toBeUndefined();
    expect(await proc.diskActivity()).toEqual([]);
  });

  it("does not look at each of very many descriptors", async () => {
    const proc = await mkdtemp(join(tmpdir(), "nodelet-proc-"));
    temporary.push(proc);
    await mkdir(join(proc, "41", "fd"), { recursive: true });
    for (let name = 0; name <= 4_096; name += 1) await writeFile(join(proc, "41", "fd", String(name)), "");
    expect(await createProcfs({ proc }).openFiles([41])).toEqual({ descriptors: 4_097, sockets: undefined });
  });

  it("knows this process", async () => {
    const open = await createProcfs().openFiles([process.pid]);
    expect(open?.descriptors).toBeGreaterThan(3);
    expect(await createProcfs().openFileLimit(process.pid)).toBeGreaterThan(0);
    expect((await createProcfs().interfacesOf(process.pid))?.map(({ name }) => name)).toContain("lo");
  });
});
