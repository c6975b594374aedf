import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { sleep } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { withDeadline } from "../../../base/time-limit.ts";
import type { PodState } from "../../pods/workers/pod-state.ts";
import { isEphemeralStorage } from "./judge-local-storage.ts";
import type { PodConsumption } from "./pod-consumption.ts";
import type { Candidate } from "./rank-pods.ts";
import type { StarvedResource } from "./signals.ts";

/** Finds the pods that could be evicted, and reads what each of them uses. */
export interface CandidateReader {
  /** Reads the candidates. Rejects if nothing could be measured, because no pod is evicted without evidence. */
  read(resource: StarvedResource, signal: AbortSignal): Promise<readonly Candidate[]>;
}

interface CandidateReaderDeps {
  readonly clock: Clock;
  readonly workers: { states(): ReadonlyMap<string, PodState> };
  readonly stats: UsageStatistics;
  /** Tells whether a container of the pod runs, as far as is known. */
  runsContainers(podUid: string): boolean;
}

/** The part of the node's statistics that is needed here. */
interface UsageStatistics {
  /** The complete summary. The contents of disks are measured while a caller waits, and may be missing at first. */
  summary(signal: AbortSignal): Promise<{ readonly pods: readonly PodConsumption[] }>;
  /** The summary of processors and memory. It asks the kernel; the runtime only about containers without cgroups. */
  cpuAndMemory(signal: AbortSignal): Promise<{ readonly pods: readonly PodConsumption[] }>;
}

const TIMEOUT_MS = 10 * SECOND;
/**
 * The reader waits this long for disks that were not measured before. Otherwise a pod that has much on them would look
 * like a pod that has nothing.
 */
const PATIENCE_MS = 5 * SECOND;
const RETRY_MS = SECOND / 2;

export function createCandidateReader(deps: CandidateReaderDeps): CandidateReader {
  const { clock, workers, stats } = deps;

  const readUsages = async (resource: StarvedResource, signal: AbortSignal) => {
    const ask = resource === "memory" ? stats.cpuAndMemory : stats.summary;
    const limit = { timeoutMs: TIMEOUT_MS, signal, what: "measuring the pods" };
    const { pods } = await withDeadline(clock, limit, async (inner) => await ask(inner));
    return new Map(pods.map((usage) => [usage.podRef.uid, usage]));
  };
  const isOfDisk = (resource: StarvedResource) => resource === "ephemeral-storage" || resource === "inodes";

  return {
    async read(resource, signal) {
      const deadline = clock.monotonic() + PATIENCE_MS;
      for (;;) {
        const usages = await readUsages(resource, signal);
        const candidates = listActivePods(workers.states()).map((pod): Candidate => {
          const uid = podUid(pod);
          return { pod, usage: usages.get(uid) ?? (deps.runsContainers(uid) ? undefined : nothingOf(uid)) };
        });
        if (!isOfDisk(resource) || candidates.every(isMeasured) || clock.monotonic() >= deadline) return candidates;
        await sleep(clock, RETRY_MS, signal);
      }
    },
  };
}

/** Lists the pods that run, and the pods that are ending but were given more time than an eviction gives. */
function listActivePods(states: ReadonlyMap<string, PodState>): Pod[] {
  return [...states.values()].flatMap((state) => {
    if (state.subject.kind !== "pod") return [];
    const isActive = state.phase === "syncing" || (state.phase === "terminating" && !state.evicted);
    return isActive ? [state.subject.pod] : [];
  });
}

/**
 * The consumption of a pod that has not started yet. Without it the pod would count as one that cannot be measured,
 * which would be evicted first.
 */
function nothingOf(uid: string): PodConsumption {
  return { podRef: { uid }, memory: { workingSetBytes: 0 }, containers: [] };
}

/**
 * Tells whether a pod's disks are measured. A pod that the statistics do not name counts as measured, because nothing
 * more will come for it.
 */
function isMeasured({ pod, usage }: Candidate): boolean {
  if (usage === undefined || usage.containers.length === 0) return true;
  const known = new Set(usage.volume?.map(({ name }) => name));
  const own = (pod.spec?.volumes ?? []).filter(isEphemeralStorage);
  return own.every(({ name }) => known.has(name)) && usage.containers.every(({ logs }) => logs !== undefined);
}
