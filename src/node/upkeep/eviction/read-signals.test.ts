import { beforeEach, describe, expect, it } from "vitest";
import { createHangGuard } from "../../../base/hang-guard.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import type { FileSystemUsage } from "../../../host/port.ts";
import type { AllocatableMemory } from "./allocatable-memory.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { createSignalReader, type SignalReader } from "./read-signals.ts";

const GIB = 1024 ** 3;
const { signal } = new AbortController();
const LAYOUT: DiskLayout = { nodeFs: "/n", imageFs: "/i", containerFs: "/i", isDedicated: true, isSplit: false };
const usageOf = (bytes: bigint, inodes: bigint): FileSystemUsage => ({
  bytes: { total: 10n * bytes, available: bytes, used: 9n * bytes },
  inodes: { total: 10n * inodes, available: inodes, used: 9n * inodes },
});

let host: FakeHost;
let disks: Map<string, () => Promise<FileSystemUsage>>;
let asked: string[];
let allocatable: () => Promise<AllocatableMemory | undefined>;
let warnings: unknown[];
let reader: SignalReader;

beforeEach(() => {
  host = createFakeHost();
  const { clock, cgroups, proc } = host;
  disks = new Map([
    ["/n", async () => usageOf(100n, 7n)],
    ["/i", async () => usageOf(200n, 0n)],
  ]);
  asked = [];
  warnings = [];
  allocatable = async () => undefined;
  cgroups.set("/", { memory: { workingSet: 3 * GIB } });
  const machine = {
    memoryCapacityBytes: host.machine.memoryCapacityBytes,
    async fileSystemUsage(path: string) {
      asked.push(path);
      return await (disks.get(path)?.() ?? Promise.reject(new Error("no disk")));
    },
  };
  const log = { ...silentLog, warn: (_message: string, fields: unknown) => void warnings.push(fields) };
  const guard = createHangGuard({ clock, maxHung: 2 });
  const readAllocatableMemory = async () => await allocatable();
  reader = createSignalReader({ clock, log, cgroups, machine, proc, guard, readAllocatableMemory });
});

const read = async (layout?: DiskLayout) => {
  const observations = await reader.read(layout, signal);
  return Object.fromEntries([...observations].map(([name, { available, capacity }]) => [name, [available, capacity]]));
};

describe("what is left", () => {
  it("is what the kernel says of the machine, and each disk is asked once", async () => {
    allocatable = async () => ({ limit: 6 * GIB, usage: 3 * GIB, workingSet: 2 * GIB });
    expect(await read(LAYOUT)).toEqual({
      "memory.available": [5 * GIB, 8 * GIB],
      "allocatableMemory.available": [4 * GIB, 6 * GIB],
      "pid.available": [32_668, 32_768],
      "nodefs.available": [100, 1_000],
      "nodefs.inodesFree": [7, 70],
      // A file system that makes inodes as it needs them cannot run short of them.
      "imagefs.available": [200, 2_000],
      "containerfs.available": [200, 2_000],
    });
    expect(asked).toEqual(["/n", "/i"]);
  });

  it("comes with what the kernel counts as used and would give back", async () => {
    host.cgroups.set("/", { memory: { usage: 5 * GIB, workingSet: 3 * GIB } });
    allocatable = async () => ({ limit: 6 * GIB, usage: 3 * GIB, workingSet: 2 * GIB });
    const observations = await reader.read(LAYOUT, signal);
    const names = ["memory.available", "allocatableMemory.available", "pid.available"] as const;
    expect(names.map((name) => observations.get(name)?.reclaimable)).toEqual([2 * GIB, GIB, undefined]);
  });

  it("is known of memory and processes before it is known where the disks are", async () => {
    expect(Object.keys(await read())).toEqual(["memory.available", "pid.available"]);
  });

  it("is missing where it cannot be read, which is said once until it can", async () => {
    disks.set("/n", async () => await Promise.reject(new Error("EIO")));
    host.proc.taskCounts = { current: undefined, max: 10 };
    host.cgroups.delete("/");
    for (let times = 0; times < 3; times++) {
      expect(Object.keys(await read(LAYOUT))).toEqual(["imagefs.available", "containerfs.available"]);
    }
    expect(warnings).toHaveLength(3);
    host.cgroups.set("/", {});
    expect(Object.keys(await read())).toContain("memory.available");
    host.cgroups.delete("/");
    await read();
    expect(warnings).toHaveLength(4);
  });

  it("does not wait for a disk that hangs: memory is told after two seconds, and then at once", async () => {
    disks.set("/i", async () => await new Promise(() => undefined));
    const first = read(LAYOUT);
    await host.clock.advance(2_000);
    expect(Object.keys(await first)).not.toContain("imagefs.available");
    expect(Object.keys(await read(LAYOUT))).toEqual(expect.arrayContaining(["memory.available", "nodefs.available"]));
  });

  it("is never less than nothing", async () => {
    host.cgroups.set("/", { memory: { workingSet: 9 * GIB } });
    host.proc.taskCounts = { current: 11, max: 10 };
    allocatable = async () => ({ limit: GIB, usage: 2 * GIB, workingSet: 2 * GIB });
    expect(await read()).toMatchObject({
      "memory.available": [0, 8 * GIB],
      "pid.available": [0, 10],
      "allocatableMemory.available": [0, 2 * GIB],
    });
  });
});
