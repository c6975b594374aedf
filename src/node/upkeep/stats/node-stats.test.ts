import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Volume } from "../../../api/gen/types.ts";
import type { CgroupPressure } from "../../../host/cgroups-port.ts";
import { createStatsWorld, fileSystemOf, LOGS, MIB, ROOT, type StatsWorld } from "./__fixtures__/stats-world.ts";

const SIGNAL = new AbortController().signal;
const SECOND = 1_000_000_000;
const NOW = "2026-01-01T00:00:00Z";
const POD_LOGS = `${LOGS}/shop_web_uid-web`;
const share = (avg10: number) => ({ avg10, avg60: 0, avg300: 0, totalMicroseconds: 5 });
const PRESSURE: CgroupPressure = { cpu: { some: share(2), full: share(1) }, io: { some: share(3), full: share(0) } };

let world: StatsWorld;
beforeEach(() => {
  world = createStatsWorld();
  const { cgroups, proc, files, machine } = world.host;
  machine.facts.memoryCapacityBytes = BigInt(1_000 * MIB);
  cgroups.set("/", { memory: { usage: 500 * MIB, workingSet: 400 * MIB } });
  cgroups.set("/k8s.io/sandbox-of-web", { pids: [7], memory: { usage: MIB, workingSet: MIB } });
  cgroups.set("/k8s.io/c1", {
    cpu: { usageNanoseconds: 10 * SECOND, userNanoseconds: 0, systemNanoseconds: 0 },
    memory: { usage: 50 * MIB, workingSet: 40 * MIB, rss: 30 * MIB, pageFaults: 9, limit: 64 * MIB },
    pids: [8, 9],
    pressure: PRESSURE,
  });
  const counts = { bytes: 100, packets: 1, errors: 2, dropped: 0 };
  const eth0 = { name: "eth0", received: counts, sent: { ...counts, bytes: 200 } };
  proc.interfaces.set(7, [{ ...eth0, name: "lo" }, eth0]);
  proc.interfaces.set(1, [{ ...eth0, name: "vethabc" }, eth0]);
  proc.nodePressure = PRESSURE;
  files.put(`${POD_LOGS}/name-of-c1/0.log`, Buffer.alloc(5_000));
  files.put(`${POD_LOGS}/name-of-c1/1.log`, Buffer.alloc(1_000));
  files.put(`${ROOT}/pods/uid-web/etc-hosts`, "127.0.0.1 localhost");
  const usedBytes = { value: BigInt(3 * MIB) };
  const writableLayer = {
    timestamp: 1_767_225_600_000_000_000n,
    fsId: undefined,
    usedBytes,
    inodesUsed: { value: 4n },
  };
  world.runtimeStats.set("c1", { writableLayer });
});
afterEach(async () => await world.end());

const readSummary = async () => await world.read(world.stats.summary(SIGNAL));

function addVolume(volume: Volume, bytes: number) {
  const hostPath = `${ROOT}/pods/uid-web/volumes/${volume.name}`;
  world.host.files.put(`${hostPath}/file`, Buffer.alloc(bytes));
  const pod = { metadata: { uid: "uid-web", name: "web", namespace: "shop" } };
  const source = { kind: "pod", volume } as const;
  world.volumes.want("uid-web", { pod, volumeName: volume.name, source, pluginName: "kubernetes.io/x" });
  world.volumes.settle("uid-web", volume.name, { kind: "files", hostPath, readOnly: false, relabel: false });
}

describe("the summary", () => {
  it("tells of the machine", async () => {
    const { node } = await readSummary();
    expect(node).toMatchObject({
      nodeName: "node-1",
      startTime: NOW,
      cpu: { time: NOW, usageNanoCores: 0, usageCoreNanoSeconds: 0, psi: { some: { avg10: 2, total: 5 } } },
      memory: { usageBytes: 500 * MIB, workingSetBytes: 400 * MIB, availableBytes: 600 * MIB },
      swap: { swapUsageBytes: 0, swapAvailableBytes: 0 },
      io: { psi: { some: { avg10: 3 } } },
      network: { name: "eth0", rxBytes: 100, txBytes: 200, rxErrors: 2 },
      fs: {
        capacityBytes: 1_000 * MIB,
        availableBytes: 750 * MIB,
        usedBytes: 250 * MIB,
        inodes: 1_000,
        inodesUsed: 250,
      },
      rlimit: { maxpid: 32_768, curproc: 100 },
    });
    expect(node.network?.interfaces?.map(({ name }) => name)).toEqual(["eth0"]);
    expect(node.runtime?.imageFs).toMatchObject({ usedBytes: 300 * MIB, inodesUsed: 30, capacityBytes: 2_000 * MIB });
    expect(node.runtime?.containerFs).toEqual(node.runtime?.imageFs);
    const [pods] = node.systemContainers ?? [];
    expect(pods).toMatchObject({ name: "pods", memory: { workingSetBytes: 41 * MIB } });
    expect(pods?.cpu).not.toHaveProperty("usageCoreNanoSeconds");
  });

  it("tells images from containers where their layers are on the disk of the pods", async () => {
    const layers = "/var/lib/containers";
    const own = createStatsWorld({ layers });
    own.host.cgroups.set("/", {});
    own.fileSystems.set(layers, async () => fileSystemOf(1_000));
    const { fs, runtime } = (await own.read(own.stats.summary(SIGNAL))).node;
    const { usedBytes, inodesUsed, ...disk } = runtime?.containerFs ?? {};
    expect({ usedBytes, inodesUsed }).toEqual({ usedBytes: 70 * MIB, inodesUsed: 7 });
    expect(fs).toMatchObject(disk);
    expect(runtime?.imageFs).toMatchObject({ capacityBytes: 2_000 * MIB, usedBytes: 300 * MIB });
  });

  it("tells of all pods by their cgroup, where they have one", async () => {
    const own = createStatsWorld({ cgroupOfAllPods: "/kubepods" });
    own.host.cgroups.set("/", {});
    own.host.cgroups.set("/kubepods", {
      cpu: { usageNanoseconds: 20 * SECOND, userNanoseconds: 0, systemNanoseconds: 0 },
      memory: { usage: 90 * MIB, workingSet: 80 * MIB, limit: 100 * MIB },
    });
    const { node } = await own.read(own.stats.summary(SIGNAL));
    expect(node.systemContainers).toMatchObject([
      {
        name: "pods",
        cpu: { usageNanoCores: 0, usageCoreNanoSeconds: 20 * SECOND },
        memory: { workingSetBytes: 80 * MIB, availableBytes: 20 * MIB },
      },
    ]);
    await own.end();
  });

  it("tells of the runtime, where its cgroup is named", async () => {
    world.daemons.runtimeCgroup = "/system.slice/containerd.service";
    world.host.cgroups.set("/system.slice/containerd.service", { memory: { workingSet: 50 * MIB } });
    const { node } = await readSummary();
    const runtime = node.systemContainers?.find(({ name }) => name === "runtime");
    expect(runtime).toMatchObject({ memory: { workingSetBytes: 50 * MIB }, cpu: { usageNanoCores: 0 } });
  });

  it("tells of a pod and its containers", async () => {
    const [pod] = (await readSummary()).pods;
    expect(pod).toMatchObject({
      podRef: { name: "web", namespace: "shop", uid: "uid-web" },
      startTime: "2025-12-31T00:00:00Z",
      cpu: { usageCoreNanoSeconds: 10 * SECOND, usageNanoCores: 0 },
      memory: { workingSetBytes: 41 * MIB, availableBytes: 23 * MIB },
      network: { name: "eth0", rxBytes: 100, txBytes: 200, interfaces: [{ name: "eth0" }] },
      process_stats: { process_count: 2 },
      containers: [
        {
          name: "name-of-c1",
          startTime: "2025-12-31T00:00:00Z",
          cpu: { usageCoreNanoSeconds: 10 * SECOND, psi: { full: { avg10: 1 } } },
          memory: { workingSetBytes: 40 * MIB, availableBytes: 24 * MIB, rssBytes: 30 * MIB, pageFaults: 9 },
          io: { psi: { some: { avg10: 3 } } },
          rootfs: { time: NOW, usedBytes: 3 * MIB, inodesUsed: 4, capacityBytes: 2_000 * MIB },
          // Files take whole blocks of 4 KiB.
          logs: { usedBytes: 12_288, inodesUsed: 2, capacityBytes: 1_000 * MIB },
        },
      ],
      "ephemeral-storage": { usedBytes: 3 * MIB + 12_288 + 4_096, inodesUsed: 7, capacityBytes: 1_000 * MIB },
    });
    expect(pod).not.toHaveProperty("volume");
  });

  it("tells how long a pod has waited by its own cgroup", async () => {
    const [sandbox, container] = ["/kubepods/poduid-web/sandbox-of-web", "/kubepods/poduid-web/c1"];
    for (const path of ["/k8s.io/sandbox-of-web", "/k8s.io/c1"]) world.host.cgroups.delete(path);
    for (const path of [sandbox, container]) world.host.cgroups.set(path, {});
    world.host.cgroups.set("/kubepods/poduid-web", {
      pressure: { ...PRESSURE, memory: { some: share(4), full: share(0) } },
    });
    const [pod] = (await readSummary()).pods;
    expect(pod?.cpu?.psi).toMatchObject({ some: { avg10: 2 }, full: { avg10: 1, total: 5 } });
    expect(pod?.memory?.psi).toMatchObject({ some: { avg10: 4 } });
    expect(pod?.io?.psi).toMatchObject({ some: { avg10: 3 } });
    expect(pod?.containers?.[0]?.cpu).not.toHaveProperty("psi");
  });

  it("tells of volumes, of which those on the node's disk count as the pod's", async () => {
    addVolume({ name: "disk", emptyDir: {} }, 8_192);
    addVolume({ name: "memory", emptyDir: { medium: "Memory" } }, 4_096);
    addVolume({ name: "token", projected: { sources: [] } }, 4_096);
    addVolume({ name: "host", hostPath: { path: "/" } }, 4_096);
    world.fileSystems.set(`${ROOT}/pods/uid-web/volumes/memory`, async () => fileSystemOf(64));
    const claim = { namespace: "shop", name: "data" };
    const usage = { ...fileSystemOf(8), condition: { abnormal: true, message: "" } };
    world.reports.push({ volumeName: "claimed", claim, measuredAt: Date.UTC(2025, 0, 1), ...usage });
    const [pod] = (await readSummary()).pods;
    expect(pod?.volume).toMatchObject([
      // The volume's own directory takes a block.
      { name: "disk", usedBytes: 12_288, inodesUsed: 2, capacityBytes: 1_000 * MIB },
      { name: "memory", usedBytes: 8_192, capacityBytes: 64 * MIB },
      { name: "token", capacityBytes: 10 * MIB },
      {
        name: "claimed",
        time: "2025-01-01T00:00:00Z",
        usedBytes: 2 * MIB,
        pvcRef: claim,
        volumeHealthStats: { abnormal: true },
      },
    ]);
    expect(pod?.["ephemeral-storage"]?.usedBytes).toBe(3 * MIB + 12_288 + 4_096 + 12_288);
    expect(world.asked).not.toContain(`statfs ${ROOT}/pods/uid-web/volumes/disk`);
  });

  it("of processors and memory asks nobody but the kernel", async () => {
    const { node, pods } = await world.read(world.stats.cpuAndMemory(SIGNAL));
    expect(world.asked).toEqual([]);
    expect(Object.keys(node).sort()).toEqual(["cpu", "memory", "nodeName", "startTime", "swap", "systemContainers"]);
    expect(Object.keys(pods[0] ?? {}).sort()).toEqual(["containers", "cpu", "memory", "podRef", "startTime", "swap"]);
    expect(Object.keys(pods[0]?.containers[0] ?? {}).sort()).toEqual(["cpu", "memory", "name", "startTime", "swap"]);
  });

  it("is told without a disk that does not answer", async () => {
    world.fileSystems.set(ROOT, async () => await new Promise(() => undefined));
    const reading = world.stats.summary(SIGNAL);
    await world.host.clock.advance(2_000);
    const { node, pods } = await reading;
    expect(node).not.toHaveProperty("fs");
    expect(node.memory?.workingSetBytes).toBe(400 * MIB);
    expect(pods[0]?.containers[0]?.logs).toMatchObject({ usedBytes: 12_288 });
    // From then on the value is known at once.
    await world.host.clock.advance(1_000);
    const again = world.stats.summary(SIGNAL);
    await world.host.clock.settle();
    expect((await again).node.memory?.workingSetBytes).toBe(400 * MIB);
  });
});

describe("those who ask", () => {
  it("share what is read", async () => {
    await world.read(Promise.all([world.stats.summary(SIGNAL), world.stats.summary(SIGNAL)]));
    await readSummary();
    expect(world.asked.filter((what) => what === "listContainerStats")).toHaveLength(1);
    expect(world.host.cgroups.searches).toBe(1);
  });

  it("get what is new a second later", async () => {
    await readSummary();
    world.host.cgroups.set("/", { memory: { workingSet: 1 } });
    expect((await readSummary()).node.memory?.workingSetBytes).toBe(400 * MIB);
    await world.host.clock.advance(1_000);
    expect((await readSummary()).node.memory?.workingSetBytes).toBe(1);
  });

  it("are the reason for all that is done: nothing goes on while nobody asks", async () => {
    await readSummary();
    await world.host.clock.advance(60_000);
    const asked = world.asked.length;
    await world.host.clock.advance(3_600_000);
    expect(world.asked).toHaveLength(asked);
    expect(world.host.clock.pendingTimers).toBe(0);
  });
});
