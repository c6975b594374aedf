import type { FileSystemUsage } from "../../../../host/port.ts";
import type { DiskActivity, InterfaceCounters } from "../../../../host/proc-port.ts";
import type { MeasuredCgroup } from "../readings/usage-snapshot.ts";
import type { MetricSample } from "./metric-page.ts";

export type SampleLabels = Readonly<Record<string, string>>;

/** A subject of the samples of `/metrics/cadvisor`: the machine, a cgroup, a sandbox or a container. */
export interface MeasuredSubject extends MeasuredCgroup {
  readonly labels: SampleLabels;
  /** The creation time in milliseconds since the epoch. 0 means that it is not known. */
  readonly createdAt: number;
  readonly interfaces: readonly InterfaceCounters[];
  readonly disks: readonly Disk[];
}

/** A file system that the subject uses. */
export interface Disk {
  readonly device: string;
  readonly usedBytes: number;
  readonly fileSystem: FileSystemUsage;
  /** What its device did for everybody; told of the machine only. */
  readonly activity?: DiskActivity | undefined;
}

/** A sample of the subject, with its labels and the time of its reading. */
export function sampleOf({ labels, at }: MeasuredSubject, value: number): MetricSample {
  return { labels, value, at };
}
