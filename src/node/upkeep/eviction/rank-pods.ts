import type { Pod, Volume } from "../../../api/gen/types.ts";
import { quantityValue } from "../../../api/quantity.ts";
import { amountOf, computePodRequests } from "../../../api/resources.ts";
import { parseTime } from "../../../base/clock.ts";
import type { EvictionSignal } from "../../../config/eviction-thresholds.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { isEphemeralStorage } from "./judge-local-storage.ts";
import type { PodConsumption } from "./pod-consumption.ts";
import { SIGNALS, type StarvedResource } from "./signals.ts";

/** A pod that may be evicted. */
export interface Candidate {
  readonly pod: Pod;
  /** Undefined: nobody could measure it. */
  readonly usage: PodConsumption | undefined;
}

/** With what its rank follows from. */
export interface RankedPod extends Candidate {
  readonly priority: number;
  /** Bytes or pieces of what the node is short of; undefined where nobody could measure it. */
  readonly used: number | undefined;
  readonly requested: number;
}

/** What is the pod's on the file system that is too full. */
interface DiskParts {
  /** What containers have written over their images. */
  readonly layers: boolean;
  readonly logs: boolean;
  readonly volumes: boolean;
}

/**
 * The pods in the order in which they are to go, pure, as pkg/kubelet/eviction/helpers.go ranks them: those of which
 * nothing is known; those that use more than they asked for (of processes nobody asks for any); those of less priority;
 * those that use most over what they asked for. Equals are told apart by their age, the youngest first: it loses least.
 */
export function rankPods(
  signal: EvictionSignal,
  layout: Pick<DiskLayout, "isDedicated" | "isSplit">,
  candidates: readonly Candidate[],
): RankedPod[] {
  const { resource } = SIGNALS[signal];
  const measure = createMeasure(signal, layout);
  const ranked = candidates.map((candidate): RankedPod => {
    const { pod, usage } = candidate;
    const used = usage && measure(pod, usage);
    return { ...candidate, priority: pod.spec?.priority ?? 0, used, requested: requestOf(pod, resource) };
  });
  const heedsRequests = resource !== "pids";
  return ranked.toSorted((a, b) => {
    return (
      trueFirst(a.used === undefined, b.used === undefined) ||
      (heedsRequests ? trueFirst(exceedsRequest(a), exceedsRequest(b)) : 0) ||
      a.priority - b.priority ||
      overRequest(b) - overRequest(a) ||
      createdAt(b.pod) - createdAt(a.pod)
    );
  });
}

/** It uses more than it asked for. */
export function exceedsRequest({ used, requested }: Pick<RankedPod, "used" | "requested">): boolean {
  return used !== undefined && used > requested;
}

function overRequest({ used, requested }: RankedPod): number {
  return used === undefined ? 0 : used - requested;
}

function trueFirst(a: boolean, b: boolean): number {
  return Number(b) - Number(a);
}

function createdAt({ metadata }: Pod): number {
  return parseTime(metadata?.creationTimestamp) ?? 0;
}

/** Inodes and processes cannot be asked for. Upstream takes a pod's bytes of storage off its inodes; that is no rank. */
function requestOf(pod: Pod, resource: StarvedResource): number {
  if (resource !== "memory" && resource !== "ephemeral-storage") return 0;
  return Number(quantityValue(amountOf(computePodRequests(pod), resource) ?? "0"));
}

function createMeasure(
  signal: EvictionSignal,
  layout: Pick<DiskLayout, "isDedicated" | "isSplit">,
): (pod: Pod, usage: PodConsumption) => number {
  switch (SIGNALS[signal].resource) {
    case "memory":
      return (_pod, { memory }) => memory?.workingSetBytes ?? 0;
    case "pids":
      return (_pod, { process_stats: processes }) => processes?.process_count ?? 0;
    case "ephemeral-storage":
      return (pod, usage) => sumDisk(pod, usage, { parts: partsOn(signal, layout), of: "usedBytes" });
    case "inodes":
      return (pod, usage) => sumDisk(pod, usage, { parts: partsOn(signal, layout), of: "inodesUsed" });
  }
}

/** Upstream's `buildSignalToRankFunc`. Of images it counts nothing either: they are nobody's alone. */
function partsOn(
  signal: EvictionSignal,
  { isDedicated, isSplit }: Pick<DiskLayout, "isDedicated" | "isSplit">,
): DiskParts {
  if (!isDedicated) return { layers: true, logs: true, volumes: true };
  const isOfImages = signal.startsWith("imagefs.");
  const isOfNode = signal.startsWith("nodefs.");
  if (isSplit) return { layers: !isOfImages, logs: !isOfImages, volumes: !isOfImages };
  return { layers: !isOfNode, logs: isOfNode, volumes: isOfNode };
}

function sumDisk(
  pod: Pod,
  { containers, volume = [] }: PodConsumption,
  { parts, of }: { readonly parts: DiskParts; readonly of: "usedBytes" | "inodesUsed" },
): number {
  const local = new Set((pod.spec?.volumes ?? []).filter(isLocal).map(({ name }) => name));
  const measured = [
    ...(parts.layers ? containers.map(({ rootfs }) => rootfs) : []),
    ...(parts.logs ? containers.map(({ logs }) => logs) : []),
    ...(parts.volumes ? volume.filter(({ name }) => local.has(name)) : []),
  ];
  return measured.reduce((sum, each) => sum + (each?.[of] ?? 0), 0);
}

function isLocal(volume: Volume): boolean {
  return volume.hostPath !== undefined || isEphemeralStorage(volume);
}
