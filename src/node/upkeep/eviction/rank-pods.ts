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
  /** Undefined means that the pod could not be measured. */
  readonly usage: PodConsumption | undefined;
}

/** A candidate with the values that determine its rank. */
export interface RankedPod extends Candidate {
  readonly priority: number;
  /** The amount that the pod uses of the scarce resource, in bytes or pieces. Undefined if it could not be measured. */
  readonly used: number | undefined;
  readonly requested: number;
}

/** The parts of a pod that are on the file system that is too full. */
interface DiskParts {
  /** The writable layers of the containers. */
  readonly layers: boolean;
  readonly logs: boolean;
  readonly volumes: boolean;
}

/**
 * Sorts the pods in the order in which they are evicted; the function is pure. As in pkg/kubelet/eviction/helpers.go,
 * the first are pods of unknown use, then pods that use more than they request (processes cannot be requested), then
 * pods of lower priority, then pods that exceed their request by the most. Among equals the youngest pod comes first,
 * because it loses least.
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

/** Tells whether a pod uses more than it requests. */
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

/**
 * Returns a pod's request. Inodes and processes cannot be requested. Upstream subtracts a pod's requested bytes of
 * storage from its inodes, which makes no sensible rank.
 */
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

/**
 * Follows upstream's `buildSignalToRankFunc`. Like upstream, it does not count images, because no single pod owns them.
 */
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
