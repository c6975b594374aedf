import type { Pressure } from "../../../src/host/cgroups-port.ts";
import type { CadvisorInput } from "../../../src/node/upkeep/stats/metrics/cadvisor-metrics.ts";

const at = Date.UTC(2026, 0, 1);
const traffic = { bytes: 1, packets: 1, errors: 1, dropped: 1 };
const INTERFACES = [{ name: "eth0", received: traffic, sent: traffic }];
const share = { avg10: 1, avg60: 1, avg300: 1, totalMicroseconds: 1 };
const PRESSURE: Pressure = { some: share, full: share };

const OPERATIONS = { count: 1, merged: 1, sectors: 1, milliseconds: 1 };

const FILE_SYSTEM = {
  bytes: { total: 3n, available: 2n, used: 1n },
  inodes: { total: 3n, available: 2n, used: 1n },
};

/** One pod of one container, of which everything was read that may be. */
export function everyReading(): CadvisorInput {
  const measured = { at, usage: everyUsage(), cpuRate: 1, files: { open: { descriptors: 1, sockets: 1 }, limit: 1 } };
  const container = { ...measured, id: "c1", name: "main", createdAt: at, path: "/c1" };
  const pressure = { cpu: PRESSURE, memory: PRESSURE, io: PRESSURE };
  const pod = {
    pod: { uid: "u1", name: "web", namespace: "default" },
    createdAt: at,
    sandbox: { ...container, id: "s1", name: "" },
    containers: [container],
    cpuTotal: 1,
    network: { at, interfaces: INTERFACES },
    pressure,
  };
  const node = { ...measured, interfaces: INTERFACES, pressure };
  const disk = { at, mountpoint: "/var/lib/containerd", used: { bytes: 1, inodes: 1 }, fileSystem: FILE_SYSTEM };
  const layers = new Map([["c1", { at, value: { bytes: 1, inodes: 1 } }]]);
  return {
    readings: {
      node: {
        ...{ nodeName: "n", rootDirectory: "/var/lib/kubelet", memoryCapacityBytes: 1, swapCapacityBytes: 1 },
        ...{ bootedAt: at, startedAt: at },
      },
      usage: { node, kubelet: undefined, misc: undefined, pods: [pod] },
      storage: {
        nodeFs: { at, value: FILE_SYSTEM },
        imageFs: disk,
        containerFs: disk,
        pods: new Map([["u1", { layers, files: undefined, volumes: [] }]]),
      },
    },
    machine: {
      ...{ machineId: "m", systemUuid: "s", bootId: "b", kernelRelease: "6", osImage: "linux" },
      ...{ cpuCores: 2, physicalCores: 1, sockets: 1, memoryModules: [{ type: "DDR4", count: 1, bytes: 1 }] },
    },
    imageOf: () => "image",
    deviceOf: () => ({ name: "/dev/sda1", numbers: "8:1" }),
    diskActivity: [
      {
        ...{ device: "/dev/sda1", numbers: "8:1", reads: OPERATIONS, writes: OPERATIONS },
        ...{ current: 1, busyMilliseconds: 1, weightedMilliseconds: 1 },
      },
    ],
    now: at,
  };
}

function everyUsage() {
  return {
    cpu: { usageNanoseconds: 1, userNanoseconds: 1, systemNanoseconds: 1 },
    memory: {
      ...{ usage: 1, workingSet: 1, rss: 1, cache: 1, mappedFile: 1, activeFile: 1, inactiveFile: 1, swap: 1 },
      ...{ pageFaults: 1, majorPageFaults: 1, limit: 1, swapLimit: 1 },
    },
    pids: [1],
    pressure: { cpu: PRESSURE, memory: PRESSURE, io: PRESSURE },
    details: {
      ...{ cpuShares: 2, cpuPeriodMicroseconds: 100_000, cpuQuotaMicroseconds: 50_000, maxMemoryUsage: 1 },
      ...{ memoryFailures: 1, kernelMemory: 1, memoryReservation: 1, oomKills: 1, tasks: 1, maxTasks: 1 },
      disks: [
        {
          ...{ device: "/dev/sda", numbers: "8:0", bytesByOperation: new Map([["Read", 1]]) },
          ...{ reads: 1, writes: 1, readBytes: 1, writtenBytes: 1 },
          cost: { usage: 1, wait: 1, inDebt: 1, inDelay: 1 },
        },
      ],
      throttling: { periods: 1, throttledPeriods: 1, throttledNanoseconds: 1, burstPeriods: 1, burstNanoseconds: 1 },
    },
  };
}
