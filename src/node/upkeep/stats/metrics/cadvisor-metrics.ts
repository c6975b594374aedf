import type { FileSystemUsage } from "../../../../host/port.ts";
import type { InterfaceCounters, TrafficCounters } from "../../../../host/proc-port.ts";
import type { NodeReadings } from "../node-stats.ts";
import type { ContainerUsage, GroupUsage, MeasuredCgroup, PodUsage } from "../readings/usage-snapshot.ts";
import { visibleInterfaces } from "../summary/describe-usage.ts";
import { CGROUP_SERIES } from "./cgroup-series.ts";
import type { MetricFamily, MetricSample } from "./metric-page.ts";

/** The readings, and everything else that the page shows. */
export interface CadvisorInput {
  readonly readings: NodeReadings;
  readonly machine: MachineLabels & {
    readonly cpuCores: number;
    readonly kernelRelease: string;
    readonly osImage: string;
  };
  /** Returns the image as the pod names it, or an empty string when it is not known. */
  imageOf(podUid: string, containerId: string): string;
  /** Returns the device of the file system that holds the path, or an empty string when it is not known. */
  deviceOf(path: string): string;
  /** The present time, in milliseconds since the epoch. */
  readonly now: number;
}

/** The labels that identify a machine. */
interface MachineLabels {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
}

type Labels = Readonly<Record<string, string>>;

/** A subject of the page's samples: the machine, a sandbox or a container. */
interface Subject extends MeasuredCgroup {
  readonly labels: Labels;
  /** The creation time in milliseconds since the epoch. 0 means that it is not known. */
  readonly createdAt: number;
  readonly interfaces: readonly InterfaceCounters[];
  readonly disks: readonly Disk[];
}

interface Disk {
  readonly device: string;
  readonly usedBytes: number;
  readonly fileSystem: FileSystemUsage;
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
    ...groups.map(describeGroup),
    ...pods.flatMap((pod) => describePod(input, pod)),
  ];
  return [
    ...CGROUP_SERIES.map(({ read, ...family }) => ({
      ...family,
      samples: subjects.flatMap((subject) =>
        read(subject.usage).map(({ value, labels }) => ({
          ...sampleOf(subject, value),
          labels: { ...subject.labels, ...labels },
        })),
      ),
    })),
    ...computeSpecs(subjects),
    ...computeNetworks(subjects),
    ...computeDisks(subjects),
    gauge("container_last_seen", "Last time a container was seen by the exporter", subjects, () =>
      Math.floor(input.now / 1_000),
    ),
    ...computeMachine(input),
    scrapeError,
  ];
}

function describeMachine({ readings, deviceOf }: CadvisorInput): Subject {
  const { usage, node, storage } = readings;
  const { memory, ...rest } = usage.node.usage;
  const limits = { limit: node.memoryCapacityBytes, swapLimit: node.swapCapacityBytes };
  const { nodeFs, imageFs } = storage;
  const root = nodeFs && { device: deviceOf(node.rootDirectory), fileSystem: nodeFs.value };
  const images = imageFs?.fileSystem && { device: deviceOf(imageFs.mountpoint), fileSystem: imageFs.fileSystem };
  const disks = [root, images?.device === root?.device ? undefined : images].filter((disk) => disk !== undefined);
  return {
    ...usage.node,
    usage: { ...rest, memory: memory && { ...memory, ...limits }, pressure: usage.node.pressure },
    labels: labelsOf({ id: "/" }),
    createdAt: node.bootedAt ?? 0,
    interfaces: usage.node.interfaces ?? [],
    disks: disks.map((disk) => ({ ...disk, usedBytes: Number(disk.fileSystem.bytes.used) })),
  };
}

/** Describes a cgroup that holds others, or a daemon. A pod's has the names of the pod, as upstream's has. */
function describeGroup({ path, pod, ...measured }: GroupUsage): Subject {
  const names = pod === undefined ? {} : { namespace: pod.namespace, pod: pod.name };
  return { ...measured, labels: labelsOf({ id: path, ...names }), createdAt: 0, interfaces: [], disks: [] };
}

function describePod(input: CadvisorInput, { pod, sandbox, containers, network }: PodUsage): Subject[] {
  const names = { namespace: pod.namespace, pod: pod.name };
  const describe = (member: ContainerUsage, more: Pick<Subject, "interfaces" | "disks">): Subject => ({
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
  return [{ device: deviceOf(disk.mountpoint), usedBytes: layer.value.bytes, fileSystem: disk.fileSystem }];
}

/** All samples of a family have the same labels. */
function labelsOf(labels: Labels): Labels {
  return { container: "", id: "", image: "", name: "", namespace: "", pod: "", ...labels };
}

function sampleOf({ labels, at }: Subject, value: number): MetricSample {
  return { labels, value, at };
}

function gauge(
  name: string,
  help: string,
  subjects: readonly Subject[],
  amountOf: (subject: Subject) => number | undefined,
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
function computeSpecs(subjects: readonly Subject[]): MetricFamily[] {
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

function computeNetworks(subjects: readonly Subject[]): MetricFamily[] {
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

function computeDisks(subjects: readonly Subject[]): MetricFamily[] {
  const family = (name: string, help: string, amountOf: (disk: Disk) => number): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: subjects.flatMap((subject) =>
      subject.disks.map((disk) => ({
        ...sampleOf(subject, amountOf(disk)),
        labels: { ...subject.labels, device: disk.device },
      })),
    ),
  });
  return [
    family("container_fs_inodes_free", "Number of available Inodes", ({ fileSystem }) =>
      Number(fileSystem.inodes.available),
    ),
    family("container_fs_inodes_total", "Number of Inodes", ({ fileSystem }) => Number(fileSystem.inodes.total)),
    family(
      "container_fs_limit_bytes",
      "Number of bytes that can be consumed by the container on this filesystem.",
      ({ fileSystem }) => Number(fileSystem.bytes.total),
    ),
    family(
      "container_fs_usage_bytes",
      "Number of bytes that are consumed by the container on this filesystem.",
      ({ usedBytes }) => usedBytes,
    ),
  ];
}

function computeMachine({ machine, readings }: CadvisorInput): MetricFamily[] {
  const labels = { boot_id: machine.bootId, machine_id: machine.machineId, system_uuid: machine.systemUuid };
  const one = (name: string, help: string, value: number): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: [{ labels, value }],
  });
  const versions = {
    cadvisorRevision: "",
    cadvisorVersion: "",
    dockerVersion: "",
    kernelVersion: machine.kernelRelease,
    osVersion: machine.osImage,
  };
  const versionHelp =
    "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.";
  return [
    one("machine_cpu_cores", "Number of logical CPU cores.", machine.cpuCores),
    one("machine_memory_bytes", "Amount of memory installed on the machine.", readings.node.memoryCapacityBytes),
    one("machine_swap_bytes", "Amount of swap memory available on the machine.", readings.node.swapCapacityBytes),
    { name: "cadvisor_version_info", help: versionHelp, type: "gauge", samples: [{ labels: versions, value: 1 }] },
  ];
}
