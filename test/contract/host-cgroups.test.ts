import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Cgroups, CgroupUsage } from "../../src/host/cgroups-port.ts";
import { createFakeCgroups } from "../../src/host/fake/fake-cgroups.ts";
import { createLinuxCgroups } from "../../src/host/linux/cgroups/linux-cgroups.ts";

const MIB = 1024 * 1024;
const FIRST = "a".repeat(64);
const SECOND = "b".repeat(64);
const THIRD = "c".repeat(64);
const FOURTH = "d".repeat(64);
const POD = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice";
/** Where runtimes put containers, by the cgroup driver. */
const PATHS = {
  [FIRST]: `/k8s.io/${FIRST}`,
  [SECOND]: `${POD}/cri-containerd-${SECOND}.scope`,
  [THIRD]: `${POD}/crio-${THIRD}.scope`,
  [FOURTH]: `/kubepods/burstable/pod2/crio-${FOURTH}`,
};
const MONITOR = `${POD}/crio-conmon-${THIRD}.scope`;

/** What each of these machines says of the first container. */
const USED = {
  cpu: { usageNanoseconds: 3_000_000_000, userNanoseconds: 2_000_000_000, systemNanoseconds: 1_000_000_000 },
  memory: {
    usage: 50 * MIB,
    workingSet: 40 * MIB,
    rss: 20 * MIB,
    cache: 30 * MIB,
    mappedFile: MIB,
    activeFile: 20 * MIB,
    inactiveFile: 10 * MIB,
    swap: 2 * MIB,
    pageFaults: 700,
    majorPageFaults: 7,
    limit: 64 * MIB,
    swapLimit: 128 * MIB,
  },
  pids: [4_711, 4_712],
} satisfies Partial<CgroupUsage>;

const DETAILS = {
  cpuShares: 1_024,
  cpuPeriodMicroseconds: 100_000,
  cpuQuotaMicroseconds: 50_000,
  throttling: {
    periods: 10,
    throttledPeriods: 3,
    throttledNanoseconds: 5_000_000,
    burstPeriods: 1,
    burstNanoseconds: 2_000,
  },
  maxMemoryUsage: 60 * MIB,
  memoryFailures: 9,
  kernelMemory: MIB,
  memoryReservation: 32 * MIB,
  oomKills: 1,
  tasks: 5,
  maxTasks: undefined,
  disks: disksWith({}),
};

/** Version 1 tells of more operations than reading and writing. */
function disksWith(more: Readonly<Record<string, number>>) {
  const [first, second] = [
    { Read: 4_096, Write: 8_192, ...more },
    { Read: 512, Write: 0 },
  ].map((bytes) => new Map(Object.entries(bytes)));
  return [
    {
      ...{ device: "/dev/sda", numbers: "8:0", bytesByOperation: first ?? new Map<string, number>() },
      ...{ reads: 10, writes: 20, readBytes: 4_096, writtenBytes: 8_192 },
    },
    {
      ...{ device: "253:1", numbers: "253:1", bytesByOperation: second ?? new Map<string, number>() },
      ...{ reads: 1, writes: 0, readBytes: 512, writtenBytes: 0 },
    },
  ];
}

const BLKIO_BYTES =
  "8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 1\n8:0 Total 12288\n253:1 Read 512\n253:1 Write 0\nTotal 12800\n";
const BLKIO_SERVICED = "8:0 Read 10\n8:0 Write 20\n8:0 Total 30\n253:1 Read 1\n253:1 Write 0\nTotal 31\n";
const IO_STAT = `8:0 rbytes=4096 wbytes=8192 rios=10 wios=20 dbytes=0 dios=0
7:0 
253:1 rbytes=512 wbytes=0 rios=1 wios=0 dbytes=0 dios=0
`;

const MEMORY_STAT_V1 = `cache 1
rss 1
total_cache ${30 * MIB}
total_rss ${20 * MIB}
total_mapped_file ${MIB}
total_swap ${2 * MIB}
total_pgfault 700
total_pgmajfault 7
total_inactive_file ${10 * MIB}
total_active_file ${20 * MIB}
`;

const CPU_STAT_V1 = "nr_periods 10\nnr_throttled 3\nthrottled_time 5000000\nnr_bursts 1\nburst_time 2000\n";

/** The files of cgroups version 1, where each controller has a tree of its own. */
function filesV1(path: string): Record<string, string> {
  return {
    [`cpuacct${path}/cpuacct.usage`]: "3000000000\n",
    [`cpuacct${path}/cpuacct.stat`]: "user 200\nsystem 100\n",
    [`cpuacct${path}/cgroup.procs`]: "4711\n4712\n0\n",
    [`cpu${path}/cpu.shares`]: "1024\n",
    [`cpu${path}/cpu.cfs_period_us`]: "100000\n",
    [`cpu${path}/cpu.cfs_quota_us`]: "50000\n",
    [`cpu${path}/cpu.stat`]: CPU_STAT_V1,
    [`memory${path}/memory.usage_in_bytes`]: `${50 * MIB}\n`,
    [`memory${path}/memory.stat`]: MEMORY_STAT_V1,
    [`memory${path}/memory.limit_in_bytes`]: `${64 * MIB}\n`,
    [`memory${path}/memory.memsw.limit_in_bytes`]: `${128 * MIB}\n`,
    [`memory${path}/memory.max_usage_in_bytes`]: `${60 * MIB}\n`,
    [`memory${path}/memory.failcnt`]: "9\n",
    [`memory${path}/memory.kmem.usage_in_bytes`]: `${MIB}\n`,
    [`memory${path}/memory.soft_limit_in_bytes`]: `${32 * MIB}\n`,
    [`memory${path}/memory.oom_control`]: "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    [`pids${path}/pids.current`]: "5\n",
    [`pids${path}/pids.max`]: "max\n",
    [`blkio${path}/blkio.throttle.io_service_bytes_recursive`]: BLKIO_BYTES,
    [`blkio${path}/blkio.throttle.io_serviced`]: BLKIO_SERVICED,
  };
}

const PRESSURE =
  "some avg10=1.50 avg60=0.60 avg300=0.30 total=150000\nfull avg10=0.50 avg60=0.20 avg300=0.10 total=50000\n";

function filesV2(path: string): Record<string, string> {
  const files = {
    "cpu.stat": `usage_usec 3000000
user_usec 2000000
system_usec 1000000
nr_periods 10
nr_throttled 3
throttled_usec 5000
nr_bursts 1
burst_usec 2
`,
    "cpu.weight": "39\n",
    "cpu.max": "50000 100000\n",
    "memory.current": `${50 * MIB}\n`,
    "memory.stat": `anon ${20 * MIB}
file ${30 * MIB}
kernel ${MIB}
file_mapped ${MIB}
inactive_file ${10 * MIB}
active_file ${20 * MIB}
pgfault 700
pgmajfault 7
`,
    "memory.max": `${64 * MIB}\n`,
    "memory.low": `${32 * MIB}\n`,
    "memory.peak": `${60 * MIB}\n`,
    "memory.swap.current": `${2 * MIB}\n`,
    "memory.swap.max": `${128 * MIB}\n`,
    "memory.events": "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n",
    "pids.current": "5\n",
    "pids.max": "max\n",
    "io.stat": IO_STAT,
    "cgroup.procs": "4711\n4712\n",
    "cpu.pressure": PRESSURE,
    "memory.pressure": PRESSURE,
    "io.pressure": PRESSURE,
  };
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${path.slice(1)}/${name}`, text]));
}

const temporary: string[] = [];
afterEach(async () => {
  for (const path of temporary.splice(0)) await rm(path, { recursive: true, force: true });
});

async function makeTree(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "nodelet-cgroups-"));
  temporary.push(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

const places = [...Object.values(PATHS), MONITOR];
const makeDevices = async () => await makeTree({ "8:0/uevent": "MAJOR=8\nMINOR=0\nDEVNAME=sda\nDEVTYPE=disk\n" });
const merged = (filesOf: (path: string) => Record<string, string>) => Object.assign({}, ...places.map(filesOf));

async function createV1(): Promise<Cgroups> {
  const proc = await makeTree({ "self/cgroup": "4:memory:/nodelet.slice\n2:cpu,cpuacct:/nodelet.slice\n0::/other\n" });
  return createLinuxCgroups({ root: await makeTree(merged(filesV1)), proc, devices: await makeDevices() });
}

async function createV2(): Promise<Cgroups> {
  const proc = await makeTree({ "self/cgroup": "0::/nodelet.slice\n" });
  return createLinuxCgroups({
    root: await makeTree({ "cgroup.controllers": "cpu memory\n", ...merged(filesV2) }),
    proc,
    devices: await makeDevices(),
  });
}

async function createFake(): Promise<Cgroups> {
  const cgroups = createFakeCgroups();
  for (const path of places) cgroups.set(path, { ...USED, details: DETAILS });
  cgroups.ownPath = "/nodelet.slice";
  return cgroups;
}

describe.each([
  ["fake", createFake, { memoryFailures: 9 }],
  ["version 1", createV1, { memoryFailures: 9, disks: disksWith({ Sync: 1, Total: 12_288 }) }],
  // Version 2 has other numbers for shares, of which not each comes back as it was, and counts no failures.
  ["version 2", createV2, { memoryFailures: undefined, cpuShares: 998 }],
])("cgroups: %s", (_name, create, differs) => {
  it("tell what a container uses", async () => {
    const cgroups = await create();
    expect(await cgroups.read(PATHS[FIRST] ?? "")).toMatchObject({ ...USED, details: undefined });
    const detailed = await cgroups.read(PATHS[FIRST] ?? "", { details: true });
    expect(detailed?.details).toEqual({ ...DETAILS, ...differs });
  });

  it("say nothing of one that is not there", async () => {
    const cgroups = await create();
    expect(await cgroups.read("/k8s.io/none")).toBeUndefined();
  });

  it("are found by the ids of containers, and not by those of their monitors", async () => {
    const cgroups = await create();
    expect(Object.fromEntries(await cgroups.find(new Set([FIRST, THIRD, "none"])))).toEqual({
      [FIRST]: PATHS[FIRST],
      [THIRD]: PATHS[THIRD],
    });
    expect(Object.fromEntries(await cgroups.find(new Set([SECOND, FOURTH])))).toEqual({
      [SECOND]: PATHS[SECOND],
      [FOURTH]: PATHS[FOURTH],
    });
    expect(await cgroups.find(new Set())).toEqual(new Map());
  });

  it("have one of this process", async () => {
    expect(await (await create()).own()).toBe("/nodelet.slice");
  });
});

describe("the kernel's cgroups", () => {
  it("of version 2 tell how long tasks have waited", async () => {
    const cgroups = await createV2();
    const some = { avg10: 1.5, avg60: 0.6, avg300: 0.3, totalMicroseconds: 150_000 };
    const full = { avg10: 0.5, avg60: 0.2, avg300: 0.1, totalMicroseconds: 50_000 };
    const waited = { some, full };
    expect((await cgroups.read(PATHS[FIRST] ?? ""))?.pressure).toEqual({ cpu: waited, memory: waited, io: waited });
    expect(await cgroups.pressure(PATHS[FIRST] ?? "")).toEqual({ cpu: waited, memory: waited, io: waited });
  });

  it("tell nothing of that with version 1, and without PSI", async () => {
    const without = Object.entries(filesV2(PATHS[FIRST] ?? "")).filter(([name]) => !name.endsWith(".pressure"));
    const root = await makeTree({ "cgroup.controllers": "cpu memory\n", ...Object.fromEntries(without) });
    for (const cgroups of [createLinuxCgroups({ root }), await createV1()]) {
      expect(await cgroups.pressure(PATHS[FIRST] ?? "")).toEqual({});
      expect((await cgroups.read(PATHS[FIRST] ?? ""))?.pressure).toEqual({});
    }
  });

  it("of version 2 tell of a device's time by a model of its cost, where there is one", async () => {
    const root = await makeTree({
      "cgroup.controllers": "",
      "cgroup.procs": "1\n",
      "io.stat":
        "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0 cost.usage=50 cost.wait=6 cost.indebt=7 cost.indelay=8\n",
    });
    const usage = await createLinuxCgroups({ root }).read("/", { details: true });
    expect(usage?.details?.disks[0]?.cost).toEqual({ usage: 50, wait: 6, inDebt: 7, inDelay: 8 });
  });

  it("of version 2 have a root that only knows how much memory is free", async () => {
    const root = await makeTree({
      "cgroup.controllers": "",
      "cgroup.procs": "1\n",
      "cpu.stat": "usage_usec 5\n",
      "memory.stat": "inactive_file 2048\n",
    });
    const meminfo = "MemTotal: 100 kB\nMemFree: 40 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n";
    const cgroups = createLinuxCgroups({ root, proc: await makeTree({ meminfo }) });
    const usage = await cgroups.read("/");
    expect(usage?.memory).toMatchObject({ usage: 61_440, workingSet: 59_392, swap: 6_144, limit: undefined });
    expect(usage?.cpu?.usageNanoseconds).toBe(5_000);
  });

  it("of version 2 have a root that counts the machine's memory where the kernel counts that of no cgroup", async () => {
    const files = (path: string) => ({ [`${path}cgroup.procs`]: "1\n", [`${path}cpu.stat`]: "usage_usec 5\n" });
    const root = await makeTree({
      ...{ "cgroup.controllers": "cpuset cpu io pids\n", ...files("") },
      ...{ "pod/cgroup.type": "domain\n", ...files("pod/") },
    });
    const meminfo = `MemTotal: 100 kB\nMemFree: 40 kB\nActive: 9 kB\nActive(file): 3 kB\nInactive(file): 2 kB\n`;
    const vmstat = "nr_active_file 1\npgfault 7\npgmajfault 5\n";
    const cgroups = createLinuxCgroups({ root, proc: await makeTree({ meminfo, vmstat }) });
    const amounts = { usage: 61_440, workingSet: 59_392, activeFile: 3_072, pageFaults: 7, majorPageFaults: 5 };
    expect((await cgroups.read("/"))?.memory).toMatchObject(amounts);
    expect(await cgroups.read("/pod")).toMatchObject({ memory: undefined, cpu: { usageNanoseconds: 5_000 } });
  });

  it("have no limit where the number is the largest that there is", async () => {
    const path = "/k8s.io/x";
    const unlimited = { [`memory${path}/memory.limit_in_bytes`]: "9223372036854771712\n" };
    const cgroups = createLinuxCgroups({ root: await makeTree({ ...filesV1(path), ...unlimited }) });
    expect((await cgroups.read(path))?.memory?.limit).toBeUndefined();
  });

  it("are told without memory where the kernel does not count it", async () => {
    const path = "/k8s.io/x";
    const files = Object.entries(filesV1(path)).filter(([name]) => !name.startsWith("memory"));
    const cgroups = createLinuxCgroups({ root: await makeTree(Object.fromEntries(files)) });
    expect(await cgroups.read(path)).toMatchObject({ memory: undefined, cpu: USED.cpu });
  });

  it("are not looked for beneath what is found: a container cannot pass its own off as another's", async () => {
    const mine = `/k8s.io/${FIRST}`;
    const files = { ...filesV1(`${mine}/${SECOND}`), ...filesV1(mine) };
    const cgroups = createLinuxCgroups({ root: await makeTree(files) });
    expect([...(await cgroups.find(new Set([FIRST, SECOND])))]).toEqual([[FIRST, mine]]);
  });

  it("are one of this process only where memory and processors are counted in the same", async () => {
    const proc = await makeTree({ "self/cgroup": "4:memory:/a\n2:cpu,cpuacct:/b\n" });
    expect(await createLinuxCgroups({ root: await makeTree({}), proc }).own()).toBeUndefined();
  });

  it("of this machine count", async () => {
    const usage = await createLinuxCgroups().read("/", { details: true });
    expect(usage?.cpu?.usageNanoseconds).toBeGreaterThan(0);
    expect(usage?.pids.length).toBeGreaterThan(0);
  });
});
