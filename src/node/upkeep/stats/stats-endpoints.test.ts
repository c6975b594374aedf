import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { CREATED, createStatsWorld, MIB, type StatsWorld } from "./__fixtures__/stats-world.ts";
import { createStatsEndpoints, type StatsEndpoints } from "./stats-endpoints.ts";

const SECOND = 1_000_000_000;
const AT = Date.UTC(2026, 0, 1);
const CONTAINER = 'container="name-of-c1",id="/k8s.io/c1",image="demo:1",name="c1",namespace="shop",pod="web"';
const SANDBOX = 'container="",id="/k8s.io/sandbox-of-web",image="",name="sandbox-of-web",namespace="shop",pod="web"';

const MACHINE = 'container="",id="/",image="",name="",namespace="",pod=""';
const MODULES = [{ type: "Unbuffered-DDR4", count: 2, bytes: 32 * 1024 * MIB }];
const ROOT_DEVICE = { name: "/dev/mapper/root", numbers: "254:0" };
/** The volume has another name in the kernel. */
const DISKS = [
  {
    ...{ device: "/dev/dm-0", numbers: "254:0", current: 3, busyMilliseconds: 4_932, weightedMilliseconds: 9_001 },
    reads: { count: 9_010, merged: 12, sectors: 706_338, milliseconds: 3_521 },
    writes: { count: 4_404, merged: 6_012, sectors: 190_378, milliseconds: 5_410 },
  },
];

let world: StatsWorld;
let endpoints: StatsEndpoints;

beforeEach(() => {
  world = createStatsWorld();
  const { cgroups, proc } = world.host;
  cgroups.set("/", { memory: { workingSet: 400 * MIB }, pids: [2] });
  cgroups.set("/k8s.io/sandbox-of-web", { pids: [7] });
  cgroups.set("/k8s.io/c1", {
    cpu: { usageNanoseconds: 1.25 * SECOND, userNanoseconds: SECOND, systemNanoseconds: 0.25 * SECOND },
    memory: { workingSet: 40 * MIB, limit: 64 * MIB, swap: 5, swapLimit: 7, pageFaults: 9, majorPageFaults: 1 },
    details: {
      cpuShares: 102,
      cpuPeriodMicroseconds: 100_000,
      cpuQuotaMicroseconds: 50_000,
      throttling: {
        periods: 10,
        throttledPeriods: 3,
        throttledNanoseconds: 0.5 * SECOND,
        burstPeriods: 0,
        burstNanoseconds: 0,
      },
      maxMemoryUsage: 60 * MIB,
      memoryFailures: 2,
      kernelMemory: MIB,
      memoryReservation: undefined,
      oomKills: 1,
      tasks: 5,
      maxTasks: undefined,
      disks: [],
    },
  });
  proc.openByPid.set(1, { files: { descriptors: 99, sockets: 99 }, limit: -1 });
  proc.openByPid.set(2, { files: { descriptors: 7, sockets: 2 }, limit: 512 });
  proc.openByPid.set(7, { files: { descriptors: 4, sockets: 0 }, limit: 1_024 });
  proc.disks = DISKS;
  const counts = { bytes: 100, packets: 1, errors: 2, dropped: 3 };
  proc.interfaces.set(7, [{ name: "eth0", received: counts, sent: { ...counts, bytes: 200 } }]);
  const usedBytes = { value: BigInt(3 * MIB) };
  const writableLayer = { timestamp: 1n, fsId: undefined, usedBytes, inodesUsed: undefined };
  world.runtimeStats.set("c1", { writableLayer });
  const identity = { machineId: "m", systemUuid: "u", bootId: "b", kernelRelease: "6.1", osImage: "Linux" };
  endpoints = createStatsEndpoints({
    stats: world.stats,
    log: silentLog,
    containers: {
      readAll: async (signal) => ({
        readings: await world.stats.readings(signal),
        machine: { ...identity, cpuCores: 2, physicalCores: 1, sockets: 1, memoryModules: MODULES },
        imageOf: (_podUid, id) => (id === "c1" ? "demo:1" : ""),
        deviceOf: (path) =>
          path.startsWith("/var/lib/containerd") ? { name: "/dev/sdb", numbers: "8:16" } : ROOT_DEVICE,
        diskActivity: await proc.diskActivity(),
        now: AT,
      }),
      readMachine: async () => await Promise.reject(new Error("not asked for")),
    },
  });
});
afterEach(async () => await world.end());

const ask = async (path: string, query = "", method = "GET") => {
  const endpoint = endpoints[path];
  if (endpoint === undefined) throw new Error(`${path} is not served`);
  return await world.read(endpoint({ method, path, query: new URLSearchParams(query) }));
};
const linesOf = async (path: string) => (await ask(path)).body.split("\n");

describe("/stats/summary", () => {
  it("is everything, or what was asked for", async () => {
    const answer = await ask("/stats/summary");
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(JSON.parse(answer.body)).toHaveProperty("node.fs");
    const part = JSON.parse((await ask("/stats/summary", "only_cpu_and_memory=true")).body);
    expect(part).toHaveProperty("node.memory");
    expect(part).not.toHaveProperty("node.fs");
    for (const query of ["only_cpu_and_memory=1", "only_cpu_and_memory=true&only_cpu_and_memory=true"]) {
      expect(JSON.parse((await ask("/stats/summary", query)).body)).toHaveProperty("node.fs");
    }
  });

  it("may be asked for by POST, as upstream's, and by nothing else", async () => {
    expect((await ask("/stats/summary", "", "POST")).status).toBe(200);
    expect((await ask("/stats/summary", "", "DELETE")).status).toBe(405);
  });

  it("says what is wrong", async () => {
    world.host.cgroups.delete("/");
    expect(await ask("/stats/summary")).toMatchObject({
      status: 500,
      body: "Internal Error: the kernel does not count what processes use: no cgroups are mounted",
    });
  });
});

describe("/metrics/resource", () => {
  it("has what the node, its pods and their containers use, by upstream's names", async () => {
    const answer = await ask("/metrics/resource");
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    });
    const lines = answer.body.split("\n").filter((line) => !line.startsWith("#"));
    const container = 'container="name-of-c1",namespace="shop",pod="web"';
    const pod = 'namespace="shop",pod="web"';
    expect(lines).toEqual([
      `container_cpu_usage_seconds_total{${container}} 1.25 ${AT}`,
      `container_memory_working_set_bytes{${container}} ${40 * MIB} ${AT}`,
      `container_start_time_seconds{${container}} ${CREATED / 1_000}`,
      `container_swap_limit_bytes{${container}} 7 ${AT}`,
      `container_swap_usage_bytes{${container}} 5 ${AT}`,
      `node_cpu_usage_seconds_total 0 ${AT}`,
      `node_memory_working_set_bytes ${400 * MIB} ${AT}`,
      `node_swap_usage_bytes 0 ${AT}`,
      `pod_cpu_usage_seconds_total{${pod}} 1.25 ${AT}`,
      `pod_memory_working_set_bytes{${pod}} ${40 * MIB} ${AT}`,
      `pod_swap_usage_bytes{${pod}} 5 ${AT}`,
      "resource_scrape_error 0",
      "scrape_error 0",
      "",
    ]);
  });

  it("says that there was an error", async () => {
    world.host.cgroups.delete("/");
    const lines = (await linesOf("/metrics/resource")).filter((line) => !line.startsWith("#"));
    expect(lines).toEqual(["resource_scrape_error 1", "scrape_error 1", ""]);
  });
});

describe("/metrics/cadvisor", () => {
  it.each([
    `container_cpu_usage_seconds_total{${CONTAINER},cpu="total"} 1.25 ${AT}`,
    `container_cpu_user_seconds_total{${CONTAINER}} 1 ${AT}`,
    `container_cpu_cfs_throttled_seconds_total{${CONTAINER}} 0.5 ${AT}`,
    `container_memory_working_set_bytes{${CONTAINER}} ${40 * MIB} ${AT}`,
    `container_memory_failcnt{${CONTAINER}} 2 ${AT}`,
    `container_memory_failures_total{${CONTAINER},failure_type="pgmajfault",scope="hierarchy"} 1 ${AT}`,
    `container_memory_max_usage_bytes{${CONTAINER}} ${60 * MIB} ${AT}`,
    `container_threads_max{${CONTAINER}} 0 ${AT}`,
    `container_oom_events_total{${CONTAINER}} 1 ${AT}`,
    `container_spec_cpu_quota{${CONTAINER}} 50000`,
    `container_spec_cpu_shares{${CONTAINER}} 102`,
    `container_spec_memory_limit_bytes{${CONTAINER}} ${64 * MIB}`,
    `container_spec_memory_limit_bytes{${SANDBOX}} 0`,
    `container_start_time_seconds{${CONTAINER}} ${CREATED / 1_000}`,
    `container_last_seen{${CONTAINER}} ${AT / 1_000} ${AT}`,
    `container_network_receive_bytes_total{${SANDBOX},interface="eth0"} 100 ${AT}`,
    `container_network_transmit_bytes_total{${SANDBOX},interface="eth0"} 200 ${AT}`,
    `container_network_receive_packets_dropped_total{${SANDBOX},interface="eth0"} 3 ${AT}`,
    `container_fs_usage_bytes{${CONTAINER},device="/dev/sdb"} ${3 * MIB} ${AT}`,
    `container_fs_limit_bytes{${MACHINE},device="/dev/mapper/root"} ${1_000 * MIB} ${AT}`,
    `container_fs_reads_total{${MACHINE},device="/dev/mapper/root"} 9010 ${AT}`,
    `container_fs_sector_writes_total{${MACHINE},device="/dev/mapper/root"} 190378 ${AT}`,
    `container_fs_writes_merged_total{${MACHINE},device="/dev/mapper/root"} 6012 ${AT}`,
    `container_fs_read_seconds_total{${MACHINE},device="/dev/mapper/root"} 3.521 ${AT}`,
    `container_fs_io_current{${MACHINE},device="/dev/mapper/root"} 3 ${AT}`,
    `container_fs_io_time_seconds_total{${MACHINE},device="/dev/mapper/root"} 4.932 ${AT}`,
    `container_fs_io_time_weighted_seconds_total{${MACHINE},device="/dev/mapper/root"} 9.001 ${AT}`,
    `container_file_descriptors{${MACHINE}} 7 ${AT}`,
    `container_file_descriptors{${SANDBOX}} 4 ${AT}`,
    `container_sockets{${MACHINE}} 2 ${AT}`,
    `container_ulimits_soft{${MACHINE},ulimit="max_open_files"} -1 ${AT}`,
    `container_ulimits_soft{${SANDBOX},ulimit="max_open_files"} 1024 ${AT}`,
    `container_health_state{${CONTAINER}} -1 ${AT}`,
    `machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="u"} 2`,
    `machine_cpu_physical_cores{boot_id="b",machine_id="m",system_uuid="u"} 1`,
    `machine_dimm_count{boot_id="b",machine_id="m",system_uuid="u",type="Unbuffered-DDR4"} 2`,
    `machine_dimm_capacity_bytes{boot_id="b",machine_id="m",system_uuid="u",type="Unbuffered-DDR4"} ${32 * 1024 * MIB}`,
    `machine_nvm_capacity{boot_id="b",machine_id="m",system_uuid="u",mode="memory_mode"} 0`,
    "machine_scrape_error 0",
    "container_scrape_error 0",
  ])("has %s", async (line) => {
    expect(await linesOf("/metrics/cadvisor")).toContain(line);
  });

  it("has daemons beside containers, and pods where they have cgroups of their own", async () => {
    const all = createStatsWorld({ cgroupOfAllPods: "/kubepods" });
    await all.host.cgroups.make("/kubepods/burstable/poduid-web");
    all.host.cgroups.ownPath = "/kubelet";
    const path = "/kubepods/burstable/poduid-web";
    for (const each of ["/kubelet", "/kubepods", "/kubepods/burstable", path, "/k8s.io/c1"]) {
      all.host.cgroups.set(each, { memory: { workingSet: 5 * MIB } });
    }
    const { usage } = await all.read(all.stats.readings(new AbortController().signal));
    expect(usage.groups?.map((group) => [group.path, group.pod?.name, group.usage.memory?.workingSet])).toEqual([
      ["/kubepods", undefined, 5 * MIB],
      ["/kubepods/burstable", undefined, 5 * MIB],
      [path, "web", 5 * MIB],
      ["/kubelet", undefined, 5 * MIB],
    ]);
    await all.end();
    world.host.cgroups.ownPath = "/kubelet";
    world.host.cgroups.set("/kubelet", { memory: { workingSet: 7 * MIB } });
    const line = 'container_memory_working_set_bytes{container="",id="/kubelet",image="",name="",namespace="",pod=""}';
    expect(await linesOf("/metrics/cadvisor")).toContain(`${line} ${7 * MIB} ${AT}`);
  });

  it("has the same labels on all samples of a name, and each sample once", async () => {
    world.host.cgroups.ownPath = "/kubelet";
    world.host.cgroups.set("/kubelet", {});
    const lines = (await linesOf("/metrics/cadvisor")).filter((line) => line !== "" && !line.startsWith("#"));
    const labels = new Map<string, Set<string>>();
    for (const line of lines) {
      const [, name = "", pairs = ""] = /^(\w+)(?:\{(.*)\})? \S+( \d+)?$/.exec(line) ?? [];
      const names = [...pairs.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label]) => label).join();
      labels.set(name, (labels.get(name) ?? new Set()).add(names));
    }
    expect([...labels].filter(([name, sets]) => name === "" || sets.size !== 1)).toEqual([]);
    expect(new Set(lines.map((line) => line.split(" ")[0])).size).toBe(lines.length);
  });

  it("tells of a device once, in the words of the cgroup, where both count it", async () => {
    const disk = {
      ...{ device: "/dev/mapper/root", numbers: "254:0", bytesByOperation: new Map([["Read", 512]]) },
      ...{ reads: 1, writes: 2, readBytes: 512, writtenBytes: 0 },
    };
    const { details } = (await world.host.cgroups.read("/k8s.io/c1", { details: true })) ?? {};
    if (details === undefined) throw new Error("no details");
    world.host.cgroups.set("/", { details: { ...details, disks: [disk] } });
    const reads = (await linesOf("/metrics/cadvisor")).filter((line) => line.startsWith("container_fs_reads_total{"));
    expect(reads).toEqual([`container_fs_reads_total{${MACHINE},device="/dev/mapper/root"} 1 ${AT}`]);
  });

  it("counts open files once in a while, however often it is asked", async () => {
    const { proc, clock } = world.host;
    await linesOf("/metrics/cadvisor");
    const before = proc.counts;
    await clock.advance(2_000);
    await linesOf("/metrics/cadvisor");
    expect(proc.counts).toBe(before);
    await clock.advance(10_000);
    await linesOf("/metrics/cadvisor");
    expect(proc.counts).toBe(2 * before);
  });

  it("says that there was an error", async () => {
    world.host.cgroups.delete("/");
    expect(await linesOf("/metrics/cadvisor")).toContain("container_scrape_error 1");
  });
});
