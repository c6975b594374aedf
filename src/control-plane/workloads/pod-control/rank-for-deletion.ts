import type { Pod } from "../../../api/gen/types.ts";
import { isPodReady, isRestartableInitContainer } from "../../../api/pods.ts";
import { parseTime } from "../../../base/clock.ts";
import { isPodActive, podReadySince } from "./pod-standing.ts";

const DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
const PHASES = ["Pending", "Unknown", "Running"];

interface RankOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The pods with which a pod may be doubled up on its node. Default: none. */
  readonly related?: readonly Pod[];
}

/** What decides about a pod, in the order in which it counts; the smaller goes first. */
interface Rank {
  readonly exact: readonly number[];
  readonly ready: number | undefined;
  readonly restarts: readonly number[];
  readonly created: number | undefined;
  readonly uid: string;
}

/**
 * The pods in the order in which they are to go, those that are missed least first (`ActivePodsWithRanks`): without a
 * node, in an early phase, not ready, of a low deletion cost, doubled up on a node, ready since recently, restarted
 * often, young. Ages are compared by their order of magnitude, so that of pods of about one age a chance one goes.
 */
export function rankForDeletion<P extends Pod>(pods: readonly P[], { now, related = [] }: RankOptions): P[] {
  const onNode = new Map<string, number>();
  for (const pod of related.filter(isPodActive)) {
    const { nodeName = "" } = pod.spec ?? {};
    onNode.set(nodeName, (onNode.get(nodeName) ?? 0) + 1);
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, onNode) }));
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank, now)).map(({ pod }) => pod);
}

function rankOf(pod: Pod, onNode: ReadonlyMap<string, number>): Rank {
  const { spec, status, metadata } = pod;
  const { nodeName = "" } = spec ?? {};
  return {
    exact: [
      nodeName === "" ? 0 : 1,
      PHASES.indexOf(status?.phase ?? "Pending"),
      isPodReady(pod) ? 1 : 0,
      deletionCostOf(pod),
      -(onNode.get(nodeName) ?? 0),
    ],
    ready: podReadySince(pod),
    restarts: restartsOf(pod),
    created: parseTime(metadata?.creationTimestamp),
    uid: metadata?.uid ?? "",
  };
}

function compareRanks(a: Rank, b: Rank, now: number): number {
  return (
    compareNumbers(a.exact, b.exact) ||
    compareAges(a, b, { time: "ready", now }) ||
    compareNumbers(a.restarts, b.restarts) ||
    compareAges(a, b, { time: "created", now })
  );
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The younger goes first. Of two that are of one order of magnitude, the UID decides, which is as good as chance. */
function compareAges(a: Rank, b: Rank, { time, now }: { time: "ready" | "created"; now: number }): number {
  const [left, right] = [a[time], b[time]];
  if (left === right) return 0;
  if (left === undefined) return -1;
  if (right === undefined) return 1;
  const magnitudes = magnitudeOf(now - left) - magnitudeOf(now - right);
  if (magnitudes !== 0) return magnitudes;
  return a.uid < b.uid ? -1 : 1;
}

/** The binary order of magnitude of an age in nanoseconds, as upstream compares them; -1 for a time ahead. */
function magnitudeOf(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * 1_000_000)) : -1;
}

/** The cost that the author gives to a pod's deletion. A pod without one, or with one that is no integer, has 0. */
function deletionCostOf({ metadata }: Pod): number {
  const cost = metadata?.annotations?.[DELETION_COST_ANNOTATION] ?? "0";
  return /^(0|-?[1-9]\d{0,9})$/.test(cost) ? Number(cost) : 0;
}

/** The most restarts of a container and of a sidecar, negative, because the pod with more goes first. */
function restartsOf({ spec, status }: Pod): readonly number[] {
  const sidecars = new Set((spec?.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name));
  const most = (counts: readonly number[]) => -Math.max(0, ...counts);
  return [
    most((status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    most(
      (status?.initContainerStatuses ?? [])
        .filter(({ name }) => sidecars.has(name))
        .map(({ restartCount }) => restartCount),
    ),
  ];
}
