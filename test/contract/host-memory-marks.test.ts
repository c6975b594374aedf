import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Cgroups } from "../../src/host/cgroups-port.ts";
import { createFakeCgroups } from "../../src/host/fake/fake-cgroups.ts";
import { createLinuxCgroups } from "../../src/host/linux/cgroups/linux-cgroups.ts";
import type { MemoryMarks } from "../../src/host/memory-marks-port.ts";

const HIERARCHY = "/sys/fs/cgroup/memory";
const MIB = 1024 * 1024;
const OWN = `/nodelet-marks-${process.pid}`;

interface CgroupUnderTest {
  readonly cgroups: Cgroups;
  /** A process takes 64 MiB in the cgroup, and gives them back. */
  use(): Promise<void>;
}

const cleanUps: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function createFake(): Promise<CgroupUnderTest> {
  const cgroups = createFakeCgroups();
  cgroups.set(OWN, {});
  return {
    cgroups,
    async use() {
      cgroups.set(OWN, { memory: { usage: 64 * MIB } });
      cgroups.set(OWN, {});
    },
  };
}

async function createReal(): Promise<CgroupUnderTest> {
  const cgroups = createLinuxCgroups();
  await cgroups.make(OWN);
  cleanUps.push(async () => await cgroups.remove(OWN, { killing: true }));
  return {
    cgroups,
    async use() {
      const script = `echo $$ > ${HIERARCHY}${OWN}/cgroup.procs && exec dd if=/dev/zero of=/dev/null bs=64M count=1`;
      const child = spawn("sh", ["-c", script], { stdio: "ignore" });
      const [code] = await once(child, "exit");
      expect(code).toBe(0);
    },
  };
}

function isWritable(): boolean {
  try {
    accessSync(`${HIERARCHY}/cgroup.event_control`, constants.W_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

describe.each([
  ["fake", true, createFake],
  ["version 1 of the kernel", isWritable(), createReal],
])("marks of memory: %s", (_name, isPossible, create) => {
  const follow = (marks: MemoryMarks | undefined) => {
    if (marks === undefined) throw new Error("version 1 has marks");
    let crossings = 0;
    const stopping = new AbortController();
    const end = marks.follow(() => crossings++, stopping.signal);
    cleanUps.push(async () => {
      stopping.abort();
      await end;
    });
    return { marks, crossings: () => crossings };
  };
  const test = it.runIf(isPossible);

  test("tell when one is crossed, and nothing of what stays below", async () => {
    const { cgroups, use } = await create();
    const { marks, crossings } = follow(cgroups.openMemoryMarks());
    marks.set([{ path: OWN, bytes: BigInt(1024 * MIB) }]);
    await use();
    marks.set([
      { path: OWN, bytes: BigInt(32 * MIB) },
      { path: "/", bytes: 2n ** 50n },
    ]);
    expect(crossings()).toBe(0);
    await use();
    await vi.waitFor(() => expect(crossings()).toBeGreaterThan(0), { timeout: 5_000 });
  });

  test("forget those of before, and say what is not there", async () => {
    const { cgroups, use } = await create();
    const { marks, crossings } = follow(cgroups.openMemoryMarks());
    marks.set([{ path: OWN, bytes: BigInt(32 * MIB) }]);
    expect(() => marks.set([{ path: `${OWN}/none`, bytes: 1n }])).toThrow(/ENOENT/);
    await use();
    await vi.waitFor(() => expect(crossings()).toBeGreaterThan(0), { timeout: 5_000 });
    marks.set([]);
    // The thread takes up the new marks within a quarter of a second; another mark shows that it has.
    const other = follow(cgroups.openMemoryMarks());
    await vi.waitFor(
      async () => {
        other.marks.set([{ path: OWN, bytes: BigInt(16 * MIB) }]);
        await use();
        expect(other.crossings()).toBeGreaterThan(1);
      },
      { timeout: 10_000, interval: 100 },
    );
    const before = crossings();
    const others = other.crossings();
    await use();
    await vi.waitFor(() => expect(other.crossings()).toBeGreaterThan(others), { timeout: 5_000 });
    expect(crossings()).toBe(before);
  });
});

describe("a machine with version 2 of cgroups", () => {
  it("has no marks", () => {
    const cgroups = createFakeCgroups();
    cgroups.version = 2;
    expect(cgroups.openMemoryMarks()).toBeUndefined();
    expect(createLinuxCgroups({ root: "/nonexistent" }).openMemoryMarks()).toBeUndefined();
  });
});
