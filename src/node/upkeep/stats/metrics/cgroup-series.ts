import type {
  CgroupDetails,
  CgroupMemory,
  CgroupUsage,
  DiskCost,
  DiskTraffic,
  Pressure,
} from "../../../../host/cgroups-port.ts";

/** A series with one or several samples for each cgroup. */
interface CgroupSeries {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  /**
   * Returns the samples, with labels in addition to those of the cgroup. The result is empty where the kernel does not
   * tell.
   */
  readonly read: (usage: CgroupUsage) => ReadonlyArray<{ readonly value: number; readonly labels?: Labels }>;
}

type Labels = Readonly<Record<string, string>>;
type Row = readonly [
  name: string,
  help: string,
  type: CgroupSeries["type"],
  read: (usage: CgroupUsage) => number | undefined,
];

/** A value is divided by this, because a product with the inverse would show digits that were never measured. */
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

const memory = (fieldOf: (memory: CgroupMemory) => number) => (usage: CgroupUsage) =>
  usage.memory && fieldOf(usage.memory);
const details = (fieldOf: (details: CgroupDetails) => number | undefined) => (usage: CgroupUsage) =>
  usage.details && fieldOf(usage.details);
/** Reads a count of throttling. The kernel counts nothing where there is no quota. */
const throttling = (fieldOf: (counts: NonNullable<CgroupDetails["throttling"]>) => number) => (usage: CgroupUsage) =>
  usage.details?.cpuQuotaMicroseconds === undefined || usage.details.throttling === undefined
    ? undefined
    : fieldOf(usage.details.throttling);
const waited = (resource: "cpu" | "memory" | "io", share: keyof Pressure) => (usage: CgroupUsage) => {
  const pressure = usage.pressure[resource];
  return pressure && pressure[share].totalMicroseconds / MICROSECONDS;
};

/** Names and help texts are those of cadvisor's metrics/prometheus.go. */
const ROWS: readonly Row[] = [
  [
    "container_cpu_user_seconds_total",
    "Cumulative user cpu time consumed in seconds.",
    "counter",
    ({ cpu }) => cpu && cpu.userNanoseconds / NANOSECONDS,
  ],
  [
    "container_cpu_system_seconds_total",
    "Cumulative system cpu time consumed in seconds.",
    "counter",
    ({ cpu }) => cpu && cpu.systemNanoseconds / NANOSECONDS,
  ],
  [
    "container_cpu_cfs_periods_total",
    "Number of elapsed enforcement period intervals.",
    "counter",
    throttling(({ periods }) => periods),
  ],
  [
    "container_cpu_cfs_throttled_periods_total",
    "Number of throttled period intervals.",
    "counter",
    throttling(({ throttledPeriods }) => throttledPeriods),
  ],
  [
    "container_cpu_cfs_throttled_seconds_total",
    "Total time duration the container has been throttled.",
    "counter",
    throttling(({ throttledNanoseconds }) => throttledNanoseconds / NANOSECONDS),
  ],
  [
    "container_cpu_cfs_burst_periods_total",
    "Number of periods when burst occurs.",
    "counter",
    throttling(({ burstPeriods }) => burstPeriods),
  ],
  [
    "container_cpu_cfs_burst_seconds_total",
    "Total time duration the container has been bursted.",
    "counter",
    throttling(({ burstNanoseconds }) => burstNanoseconds / NANOSECONDS),
  ],
  ["container_memory_cache", "Number of bytes of page cache memory.", "gauge", memory(({ cache }) => cache)],
  ["container_memory_rss", "Size of RSS in bytes.", "gauge", memory(({ rss }) => rss)],
  [
    "container_memory_kernel_usage",
    "Size of kernel memory allocated in bytes.",
    "gauge",
    details(({ kernelMemory }) => kernelMemory),
  ],
  [
    "container_memory_mapped_file",
    "Size of memory mapped files in bytes.",
    "gauge",
    memory(({ mappedFile }) => mappedFile),
  ],
  ["container_memory_swap", "Container swap usage in bytes.", "gauge", memory(({ swap }) => swap)],
  [
    "container_memory_failcnt",
    "Number of memory usage hits limits",
    "counter",
    details(({ memoryFailures }) => memoryFailures ?? 0),
  ],
  [
    "container_memory_usage_bytes",
    "Current memory usage in bytes, including all memory regardless of when it was accessed",
    "gauge",
    memory(({ usage }) => usage),
  ],
  [
    "container_memory_max_usage_bytes",
    "Maximum memory usage recorded in bytes",
    "gauge",
    details(({ maxMemoryUsage }) => maxMemoryUsage),
  ],
  [
    "container_memory_working_set_bytes",
    "Current working set in bytes.",
    "gauge",
    memory(({ workingSet }) => workingSet),
  ],
  [
    "container_memory_total_active_file_bytes",
    "Current total active file in bytes.",
    "gauge",
    memory(({ activeFile }) => activeFile),
  ],
  [
    "container_memory_total_inactive_file_bytes",
    "Current total inactive file in bytes.",
    "gauge",
    memory(({ inactiveFile }) => inactiveFile),
  ],
  ["container_processes", "Number of processes running inside the container.", "gauge", ({ pids }) => pids.length],
  ["container_threads", "Number of threads running inside the container", "gauge", details(({ tasks }) => tasks)],
  [
    "container_threads_max",
    "Maximum number of threads allowed inside the container, infinity if value is zero",
    "gauge",
    details(({ tasks, maxTasks }) => (tasks === undefined ? undefined : (maxTasks ?? 0))),
  ],
  [
    "container_oom_events_total",
    "Count of out of memory events observed for the container",
    "counter",
    details(({ oomKills }) => oomKills),
  ],
  [
    "container_pressure_cpu_stalled_seconds_total",
    "Total time duration no tasks in the container could make progress due to CPU congestion.",
    "counter",
    waited("cpu", "full"),
  ],
  [
    "container_pressure_cpu_waiting_seconds_total",
    "Total time duration tasks in the container have waited due to CPU congestion.",
    "counter",
    waited("cpu", "some"),
  ],
  [
    "container_pressure_memory_stalled_seconds_total",
    "Total time duration no tasks in the container could make progress due to memory congestion.",
    "counter",
    waited("memory", "full"),
  ],
  [
    "container_pressure_memory_waiting_seconds_total",
    "Total time duration tasks in the container have waited due to memory congestion.",
    "counter",
    waited("memory", "some"),
  ],
  [
    "container_pressure_io_stalled_seconds_total",
    "Total time duration no tasks in the container could make progress due to IO congestion.",
    "counter",
    waited("io", "full"),
  ],
  [
    "container_pressure_io_waiting_seconds_total",
    "Total time duration tasks in the container have waited due to IO congestion.",
    "counter",
    waited("io", "some"),
  ],
];

const DISK_ROWS: ReadonlyArray<readonly [name: string, help: string, countOf: (disk: DiskTraffic) => number]> = [
  ["container_fs_reads_bytes_total", "Cumulative count of bytes read", ({ readBytes }) => readBytes],
  ["container_fs_reads_total", "Cumulative count of reads completed", ({ reads }) => reads],
  ["container_fs_writes_bytes_total", "Cumulative count of bytes written", ({ writtenBytes }) => writtenBytes],
  ["container_fs_writes_total", "Cumulative count of writes completed", ({ writes }) => writes],
];

const COST_ROWS: ReadonlyArray<readonly [name: string, help: string, timeOf: (cost: DiskCost) => number]> = [
  ["container_fs_io_cost_usage_seconds_total", "Cumulative IOCost usage in seconds", ({ usage }) => usage],
  ["container_fs_io_cost_wait_seconds_total", "Cumulative IOCost wait in seconds", ({ wait }) => wait],
  ["container_fs_io_cost_indebt_seconds_total", "Cumulative IOCost debt in seconds", ({ inDebt }) => inDebt],
  ["container_fs_io_cost_indelay_seconds_total", "Cumulative IOCost delay in seconds", ({ inDelay }) => inDelay],
];

/** The series of `/metrics/cadvisor` that come from the kernel's counters of each cgroup. */
export const CGROUP_SERIES: readonly CgroupSeries[] = [
  {
    name: "container_cpu_usage_seconds_total",
    help: "Cumulative cpu time consumed in seconds.",
    type: "counter",
    read: ({ cpu }) =>
      cpu === undefined ? [] : [{ value: cpu.usageNanoseconds / NANOSECONDS, labels: { cpu: "total" } }],
  },
  {
    name: "container_memory_failures_total",
    help: "Cumulative count of memory allocation failures.",
    type: "counter",
    read: ({ memory: counts }) => (counts === undefined ? [] : readFaults(counts)),
  },
  ...DISK_ROWS.map(([name, help, countOf]): CgroupSeries => {
    const read = ({ details: found }: CgroupUsage) =>
      (found?.disks ?? []).map((disk) => ({ value: countOf(disk), labels: { device: disk.device } }));
    return { name, help, type: "counter", read };
  }),
  ...COST_ROWS.map(([name, help, timeOf]): CgroupSeries => {
    const read = ({ details: found }: CgroupUsage) =>
      (found?.disks ?? []).flatMap(({ device, cost }) =>
        cost === undefined ? [] : [{ value: timeOf(cost) / MICROSECONDS, labels: { device } }],
      );
    return { name, help, type: "counter", read };
  }),
  {
    name: "container_blkio_device_usage_total",
    help: "Blkio Device bytes usage",
    type: "counter",
    read: ({ details: found }) => (found?.disks ?? []).flatMap(readOperations),
  },
  ...ROWS.map(([name, help, type, read]): CgroupSeries => {
    const readOne = (usage: CgroupUsage) => {
      const value = read(usage);
      return value === undefined ? [] : [{ value }];
    };
    return { name, help, type, read: readOne };
  }),
];

function readOperations({ device, numbers, bytesByOperation }: DiskTraffic) {
  const [major = "", minor = ""] = numbers.split(":");
  return [...bytesByOperation].map(([operation, value]) => ({ value, labels: { device, major, minor, operation } }));
}

function readFaults({ pageFaults, majorPageFaults }: CgroupMemory) {
  return ["container", "hierarchy"].flatMap((scope) => [
    { value: pageFaults, labels: { failure_type: "pgfault", scope } },
    { value: majorPageFaults, labels: { failure_type: "pgmajfault", scope } },
  ]);
}
