import type { Pod } from "../../../api/gen/types.ts";
import { isPodTerminating } from "../pod-control/pod-standing.ts";
import { rankForDeletion } from "../pod-control/rank-for-deletion.ts";
import { firstFreeIndexes, uniteIndexes } from "./completion-indexes.ts";
import { indexesOf, type JobView } from "./examine-job.ts";
import { type FailureStreak, remainingBackOffMs, remainingIndexBackOffMs } from "./job-back-off.ts";
import { completionIndexOf, isIndexed, isSuspended, replacesOnlyFailed } from "./job-pods.ts";

/** What to do with a job's pods. Pods are created or deleted at a time, never both. */
interface JobPodsPlan {
  /** Pods that are deleted because the job has ended. They are counted afterwards. */
  readonly end: readonly Pod[];
  /** Pods that are deleted because there are too many. Nobody counts them. */
  readonly dismiss: readonly Pod[];
  /** How many pods to create: one for each of these indexes; undefined stands for a pod without an index. */
  readonly create: ReadonlyArray<number | undefined>;
  /** When to plan again because a back-off is over then. */
  readonly waitMs?: number | undefined;
}

/** So many pods are created or deleted before the job is looked at again. */
const MAX_PODS_AT_ONCE = 500;
const NOTHING: JobPodsPlan = { end: [], dismiss: [], create: [] };

/** Plans the pods that the job needs now, by its parallelism, what is left to do and what has failed of late. */
export function planJobPods(view: JobView, streak: FailureStreak | undefined, now: number): JobPodsPlan {
  const { job, active, verdict } = view;
  if (verdict !== undefined) return { ...NOTHING, end: active };
  if (job.metadata?.deletionTimestamp !== undefined) return NOTHING;
  if (isSuspended(job)) return { ...NOTHING, dismiss: active };
  const wanted = computeWanted(view);
  const dismiss = chooseSurplus(view, active.length - wanted, now);
  if (dismiss.length > 0) return { ...NOTHING, dismiss: dismiss.slice(0, MAX_PODS_AT_ONCE) };
  const ending = replacesOnlyFailed(job) ? view.terminating : 0;
  const missing = Math.min(wanted - ending - active.length, MAX_PODS_AT_ONCE);
  return missing > 0 ? planCreations(view, { missing, streak, now }) : NOTHING;
}

/** How many pods should be active. */
function computeWanted({ job, active, succeeded }: JobView): number {
  const { completions, parallelism = 1 } = job.spec ?? {};
  // The pods of a queue of work decide among themselves: once one has succeeded, the others go on and no new one starts.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** The pods that have no index, or one that another has, and of the others those that are missed least. */
function chooseSurplus({ job, active }: JobView, surplus: number, now: number): readonly Pod[] {
  const ranked = rankForDeletion(active, { now });
  if (!isIndexed(job)) return ranked.slice(0, Math.max(0, surplus));
  const keepers = new Map(ranked.map((pod) => [completionIndexOf(pod), pod]));
  const isWanted = (pod: Pod) => {
    const index = completionIndexOf(pod);
    return index !== undefined && index < (job.spec?.completions ?? 0) && keepers.get(index) === pod;
  };
  const odd = ranked.filter((pod) => !isWanted(pod));
  return [...odd, ...ranked.filter(isWanted).slice(0, Math.max(0, surplus - odd.length))];
}

interface Creation {
  missing: number;
  streak: FailureStreak | undefined;
  now: number;
}

function planCreations(view: JobView, { missing, streak, now }: Creation): JobPodsPlan {
  const { indexes } = view;
  const waitMs = indexes?.failed === undefined ? remainingBackOffMs(streak, now) : 0;
  if (waitMs > 0) return { ...NOTHING, waitMs };
  if (indexes === undefined) return { ...NOTHING, create: Array.from({ length: missing }, () => undefined) };
  const free = firstFreeIndexes(takenIndexes(view), view.job.spec?.completions ?? 0, missing);
  const waits = new Map(free.map((index) => [index, remainingIndexBackOffMs(indexes.lastFailed.get(index), now)]));
  const waiting = [...waits.values()].filter((wait) => wait > 0);
  return {
    ...NOTHING,
    create: free.filter((index) => waits.get(index) === 0),
    ...(waiting.length > 0 && { waitMs: Math.min(...waiting) }),
  };
}

function takenIndexes({ job, pods, active, indexes }: JobView) {
  const ending = replacesOnlyFailed(job) ? pods.filter(isPodTerminating) : [];
  const done = uniteIndexes(indexes?.succeeded ?? [], indexes?.failed ?? []);
  return uniteIndexes(done, indexesOf([...active, ...ending]));
}
