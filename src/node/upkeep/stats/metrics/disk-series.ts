import type { DiskActivity } from "../../../../host/proc-port.ts";
import { type Disk, type MeasuredSubject, sampleOf } from "./measured-subject.ts";
import type { MetricFamily } from "./metric-page.ts";

type Row = readonly [name: string, help: string, type: MetricFamily["type"], read: (disk: Disk) => number | undefined];

/** A value is divided by this, because a product with the inverse would show digits that were never measured. */
const MILLISECONDS = 1e3;

const active = (countOf: (activity: DiskActivity) => number) => (disk: Disk) => disk.activity && countOf(disk.activity);

/** Names and help texts are those of cadvisor's metrics/prometheus.go. */
const ROWS: readonly Row[] = [
  [
    "container_fs_inodes_free",
    "Number of available Inodes",
    "gauge",
    ({ fileSystem }) => Number(fileSystem.inodes.available),
  ],
  ["container_fs_inodes_total", "Number of Inodes", "gauge", ({ fileSystem }) => Number(fileSystem.inodes.total)],
  [
    "container_fs_limit_bytes",
    "Number of bytes that can be consumed by the container on this filesystem.",
    "gauge",
    ({ fileSystem }) => Number(fileSystem.bytes.total),
  ],
  [
    "container_fs_usage_bytes",
    "Number of bytes that are consumed by the container on this filesystem.",
    "gauge",
    ({ usedBytes }) => usedBytes,
  ],
  ["container_fs_reads_total", "Cumulative count of reads completed", "counter", active(({ reads }) => reads.count)],
  [
    "container_fs_sector_reads_total",
    "Cumulative count of sector reads completed",
    "counter",
    active(({ reads }) => reads.sectors),
  ],
  [
    "container_fs_reads_merged_total",
    "Cumulative count of reads merged",
    "counter",
    active(({ reads }) => reads.merged),
  ],
  [
    "container_fs_read_seconds_total",
    "Cumulative count of seconds spent reading",
    "counter",
    active(({ reads }) => reads.milliseconds / MILLISECONDS),
  ],
  [
    "container_fs_writes_total",
    "Cumulative count of writes completed",
    "counter",
    active(({ writes }) => writes.count),
  ],
  [
    "container_fs_sector_writes_total",
    "Cumulative count of sector writes completed",
    "counter",
    active(({ writes }) => writes.sectors),
  ],
  [
    "container_fs_writes_merged_total",
    "Cumulative count of writes merged",
    "counter",
    active(({ writes }) => writes.merged),
  ],
  [
    "container_fs_write_seconds_total",
    "Cumulative count of seconds spent writing",
    "counter",
    active(({ writes }) => writes.milliseconds / MILLISECONDS),
  ],
  ["container_fs_io_current", "Number of I/Os currently in progress", "gauge", active(({ current }) => current)],
  [
    "container_fs_io_time_seconds_total",
    "Cumulative count of seconds spent doing I/Os",
    "counter",
    active(({ busyMilliseconds }) => busyMilliseconds / MILLISECONDS),
  ],
  [
    "container_fs_io_time_weighted_seconds_total",
    "Cumulative weighted I/O time in seconds",
    "counter",
    active(({ weightedMilliseconds }) => weightedMilliseconds / MILLISECONDS),
  ],
];

/**
 * Computes the series of file systems and of what their devices did. Upstream divides the kernel's milliseconds as if
 * they were nanoseconds (fs/fs.go has no conversion), which makes its seconds a million times too few.
 */
export function computeDiskSeries(subjects: readonly MeasuredSubject[]): MetricFamily[] {
  return ROWS.map(([name, help, type, read]) => ({
    name,
    help,
    type,
    samples: subjects.flatMap((subject) =>
      subject.disks.flatMap((disk) => {
        const value = read(disk);
        return value === undefined
          ? []
          : [{ ...sampleOf(subject, value), labels: { ...subject.labels, device: disk.device } }];
      }),
    ),
  }));
}
