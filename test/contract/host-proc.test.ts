import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createFakeProc } from "../../src/host/fake/fake-proc.ts";
import { createProcfs } from "../../src/host/linux/system/procfs.ts";
import type { Proc } from "../../src/host/proc-port.ts";

const LO = { name: "lo", received: count(700, 7, 0, 0), sent: count(700, 7, 0, 0) };
const ETH0 = { name: "eth0", received: count(1_234, 12, 1, 2), sent: count(5_678, 34, 3, 4) };
const CPU = {
  some: { avg10: 1.5, avg60: 0.6, avg300: 0.3, totalMicroseconds: 150_000 },
  full: { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 0 },
};

function count(bytes: number, packets: number, errors: number, dropped: number) {
  return { bytes, packets, errors, dropped };
}

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
  return createProcfs({ proc });
}

async function createFake(): Promise<Proc> {
  const proc = createFakeProc();
  proc.interfaces.set(1, [LO, ETH0]);
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
  });

  it("knows this process", async () => {
    expect((await createProcfs().interfacesOf(process.pid))?.map(({ name }) => name)).toContain("lo");
  });
});
