import type { DiskActivity, TrafficCounters } from "../../../../host/proc-port.ts";
import type { NodeReadings } from "../node-stats.ts";
import type { MountedDevice } from "../readings/mounted-device.ts";
import type { ContainerUsage, GroupUsage, PodUsage } from "../readings/usage-snapshot.ts";
import { visibleInterfaces } from "../summary/describe-usage.ts";
import { CGROUP_SERIES } from "./cgroup-series.ts";
import { computeDiskSeries } from "./disk-series.ts";
import { computeMachineSeries, type MachineFacts } from "./machine-series.ts";
import { type Disk, type MeasuredSubject, type SampleLabels, sampleOf } from "./measured-subject.ts";
import { joinFamilies, type MetricFamily } from "./metric-page.ts";
import { computeOpenFileSeries } from "./open-file-series.ts";

/** The readings, and everything else that the page shows. */
export interface CadvisorInput {
  readonly readings: NodeReadings;
  readonly machine: MachineFacts;
  /** Returns the image as the pod names it, or an empty string when it is not known. */
  imageOf(podUid: string, containerId: string): string;
  /** Returns the device of the file system that holds the path; without a name when it is not known. */
  deviceOf(path: string): MountedDevice;
  readonly diskActivity: readonly DiskActivity[];
  /** The present time, in milliseconds since the epoch. */
  readonly now: number;
}

/** What the page shows of the machine alone. */
export interface MachineInput {
  readonly machine: MachineFacts;
  readonly node: NodeReadings["node"];
}

/** Computes the page where the runtime makes the series of pods and containers: `families`, and those of the machine. */
export function computeRuntimePage(families: readonly MetricFamily[], { machine, node }: MachineInput): MetricFamily[] {
  return joinFamilies([...families, ...computeMachineSeries(machine, node)]);
}

/**
 * Computes the page `/metrics/cadvisor`. Its subjects are the machine, the cgroups that are no container's, the
 * sandboxes, which carry the pods' networks, and the containers. Names, help and labels are those of cadvisor in a kubelet. An undefined input means that there
 * was an error, and the page says so.
 */
export function computeCadvisorMetrics(input: CadvisorInput | undefined): MetricFamily[] {
  const error = { value: input === undefined ? 1 : 0 };
  const scrapeError: MetricFamily = {
    name: "container_scrape_error",
    help: "1 if there was an error while getting container metrics, 0 otherwise",
    type: "gauge",
    samples: [error],
  };
  if (input === undefined) return [scrapeError];
  const { pods, groups = [] } = input.readings.usage;
  const subjects = [
    describeMachine(input),
    ...groups.map((group) => describeGroup(group, pods)),
    ...pods.flatMap((pod) => describePod(input, pod)),
  ];
  const counted = CGROUP_SERIES.map(({ read, ...family }) => ({
    ...family,
    samples: subjects.flatMap((subject) =>
      read(subject.usage).map(({ value, labels }) => ({
        ...sampleOf(subject, value),
        labels: { ...subject.labels, ...labels },
      })),
    ),
  }));
  return [
    ...joinFamilies([...counted, ...computeDiskSeries(subjects)]),
    ...computeOpenFileSeries(subjects),
    ...computeSpecs(subjects),
    ...computeNetworks(subjects),
    gauge("container_last_seen", "Last time a container was seen by the exporter", subjects, () =>
      Math.floor(input.now / 1_000),
    ),
    gauge("container_health_state", "The result of the container's health check", subjects, () => NO_HEALTH_CHECK),
    ...computeMachineSeries(input.machine, input.readings.node),
    scrapeError,
  ];
}

/** Upstream's value for a container of a runtime that makes no health checks, as none does that speaks CRI. */
const NO_HEALTH_CHECK = -1;

function describeMachine({ readings, deviceOf, diskActivity }: CadvisorInput): MeasuredSubject {
  const { usage, node, storage } = readings;
  const { memory, ...rest } = usage.node.usage;
  const limits = { limit: node.memoryCapacityBytes, swapLimit: node.swapCapacityBytes };
  const { nodeFs, imageFs } = storage;
  const root = nodeFs && { device: deviceOf(node.rootDirectory), fileSystem: nodeFs.value };
  const images = imageFs?.fileSystem && { device: deviceOf(imageFs.mountpoint), fileSystem: imageFs.fileSystem };
  const disks = [root, images?.device.name === root?.device.name ? undefined : images].filter(
    (disk) => disk !== undefined,
  );
  return {
    ...usage.node,
    usage: { ...rest, memory: memory && { ...memory, ...limits }, pressure: usage.node.pressure },
    labels: labelsOf({ id: "/" }),
    createdAt: node.bootedAt ?? 0,
    interfaces: usage.node.interfaces ?? [],
    disks: disks.map((disk) => ({
      ...disk,
      device: disk.device.name,
      usedBytes: Number(disk.fileSystem.bytes.used),
      activity: findActivity(diskActivity, disk.device),
    })),
  };
}

/**
 * Finds what a device did by its name, or by its numbers: a volume of the device mapper has another name in the kernel,
 * and a btrfs numbers of its own.
 */
function findActivity(all: readonly DiskActivity[], { name, numbers }: MountedDevice): DiskActivity | undefined {
  return all.find(({ device }) => device === name) ?? all.find((one) => one.numbers === numbers);
}

/**
 * Describes a cgroup that holds others, or a daemon. A pod's has the names of the pod, as upstream's has, and began with
 * its sandbox. The kernel does not tell when another was made.
 */
function describeGroup({ path, pod, ...measured }: GroupUsage, pods: readonly PodUsage[]): MeasuredSubject {
  const names = pod === undefined ? {} : { namespace: pod.namespace, pod: pod.name };
  const createdAt = pods.find((one) => one.pod.uid === pod?.uid)?.createdAt ?? 0;
  // Upstream knows no first process of such a cgroup, and tells no limit.
  const files = measured.files && { open: measured.files.open, limit: undefined };
  const group = { ...measured, labels: labelsOf({ id: path, ...names }), createdAt, interfaces: [], disks: [] };
  return files === undefined ? group : { ...group, files };
}

function describePod(input: CadvisorInput, { pod, sandbox, containers, network }: PodUsage): MeasuredSubject[] {
  const names = { namespace: pod.namespace, pod: pod.name };
  const describe = (member: ContainerUsage, more: Pick<MeasuredSubject, "interfaces" | "disks">): MeasuredSubject => ({
    ...member,
    ...more,
    labels: labelsOf({
      ...names,
      id: member.path ?? `/${member.id}`,
      name: member.id,
      container: member.name,
      image: input.imageOf(pod.uid, member.id),
    }),
  });
  const own = containers.map((container) =>
    describe(container, { interfaces: [], disks: disksOf(input, pod.uid, container) }),
  );
  const interfaces = network?.interfaces ?? [];
  return sandbox === undefined ? own : [describe(sandbox, { interfaces, disks: [] }), ...own];
}

/** Describes a container's writable layer on the file system that holds the layers. */
function disksOf({ readings, deviceOf }: CadvisorInput, podUid: string, { id }: ContainerUsage): Disk[] {
  const layer = readings.storage.pods.get(podUid)?.layers.get(id);
  const disk = readings.storage.containerFs;
  if (layer === undefined || disk?.fileSystem === undefined) return [];
  return [{ device: deviceOf(disk.mountpoint).name, usedBytes: layer.value.bytes, fileSystem: disk.fileSystem }];
}

/** All samples of a family have the same labels. */
function labelsOf(labels: SampleLabels): SampleLabels {
  return { container: "", id: "", image: "", name: "", namespace: "", pod: "", ...labels };
}

function gauge(
  name: string,
  help: string,
  subjects: readonly MeasuredSubject[],
  amountOf: (subject: MeasuredSubject) => number | undefined,
): MetricFamily {
  const samples = subjects.flatMap((subject) => {
    const value = amountOf(subject);
    return value === undefined ? [] : [sampleOf(subject, value)];
  });
  return { name, help, type: "gauge", samples };
}

/**
 * Computes the samples of start times and limits, which carry no timestamp. A limit that does not exist is shown as 0.
 */
function computeSpecs(subjects: readonly MeasuredSubject[]): MetricFamily[] {
  const families = [
    gauge(
      "container_start_time_seconds",
      "Start time of the container since unix epoch in seconds.",
      subjects,
      ({ createdAt }) => (createdAt > 0 ? Math.floor(createdAt / 1_000) : undefined),
    ),
    gauge(
      "container_spec_cpu_period",
      "CPU period of the container.",
      subjects,
      ({ usage }) => usage.details?.cpuPeriodMicroseconds,
    ),
    gauge(
      "container_spec_cpu_quota",
      "CPU quota of the container.",
      subjects,
      ({ usage }) => usage.details?.cpuQuotaMicroseconds,
    ),
    gauge(
      "container_spec_cpu_shares",
      "CPU share of the container.",
      subjects,
      ({ usage }) => usage.details?.cpuShares,
    ),
    gauge(
      "container_spec_memory_limit_bytes",
      "Memory limit for the container.",
      subjects,
      ({ usage }) => usage.memory && (usage.memory.limit ?? 0),
    ),
    gauge(
      "container_spec_memory_swap_limit_bytes",
      "Memory swap limit for the container.",
      subjects,
      ({ usage }) => usage.memory && (usage.memory.swapLimit ?? 0),
    ),
    gauge(
      "container_spec_memory_reservation_limit_bytes",
      "Memory reservation limit for the container.",
      subjects,
      ({ usage }) => usage.details && (usage.details.memoryReservation ?? 0),
    ),
  ];
  return families.map((family) => ({
    ...family,
    samples: family.samples.map(({ labels = {}, value }) => ({ labels, value })),
  }));
}

const TRAFFIC = [
  ["bytes", "bytes"],
  ["packets", "packets"],
  ["packets_dropped", "packets dropped while"],
  ["errors", "errors encountered while"],
] as const;

function computeNetworks(subjects: readonly MeasuredSubject[]): MetricFamily[] {
  const family = (direction: "receive" | "transmit", [name, what]: (typeof TRAFFIC)[number]): MetricFamily => {
    const doing = direction === "receive" ? "receiving" : "transmitting";
    const done = direction === "receive" ? "received" : "transmitted";
    return {
      name: `container_network_${direction}_${name}_total`,
      help: `Cumulative count of ${what} ${what.endsWith("while") ? doing : done}`,
      type: "counter",
      samples: subjects.flatMap((subject) =>
        visibleInterfaces(subject.interfaces).map(({ name: label, received, sent }) => ({
          ...sampleOf(subject, countOf(direction === "receive" ? received : sent, name)),
          labels: { ...subject.labels, interface: label },
        })),
      ),
    };
  };
  return TRAFFIC.flatMap((kind) => [family("receive", kind), family("transmit", kind)]);
}

function countOf({ bytes, packets, errors, dropped }: TrafficCounters, kind: (typeof TRAFFIC)[number][0]): number {
  return { bytes, packets, errors, packets_dropped: dropped }[kind];
}
