import { expect, it } from "vitest";
import type { CgroupDetails } from "../../../../host/cgroups-port.ts";
import { CGROUP_SERIES } from "./cgroup-series.ts";

const details: CgroupDetails = {
  ...{ cpuShares: undefined, cpuPeriodMicroseconds: undefined, cpuQuotaMicroseconds: undefined },
  ...{ throttling: undefined, maxMemoryUsage: undefined, memoryFailures: undefined, kernelMemory: undefined },
  ...{ memoryReservation: undefined, oomKills: undefined, tasks: undefined, maxTasks: undefined },
  disks: [
    {
      ...{ device: "/dev/sda", numbers: "8:16", reads: 1, writes: 2, readBytes: 512, writtenBytes: 1_024 },
      bytesByOperation: new Map([
        ["Read", 512],
        ["Write", 1_024],
      ]),
    },
  ],
};

it.each([
  [
    "container_blkio_device_usage_total",
    [
      { value: 512, labels: { device: "/dev/sda", major: "8", minor: "16", operation: "Read" } },
      { value: 1_024, labels: { device: "/dev/sda", major: "8", minor: "16", operation: "Write" } },
    ],
  ],
  ["container_fs_reads_bytes_total", [{ value: 512, labels: { device: "/dev/sda" } }]],
  ["container_fs_writes_total", [{ value: 2, labels: { device: "/dev/sda" } }]],
])("%s tells of each device", (name, samples) => {
  const series = CGROUP_SERIES.find((one) => one.name === name);
  expect(series?.read({ cpu: undefined, memory: undefined, pids: [], pressure: {}, details })).toEqual(samples);
});
