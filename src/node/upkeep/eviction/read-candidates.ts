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

/** Finds out who could be evicted, and what each of them uses. */
export interface CandidateReader {
  /** Rejects where nothing could be measured: nobody is evicted on no evidence. */
  read(resource: StarvedResource, signal: AbortSignal): Promise<readonly Candidate[]>;
}

interface CandidateReaderDeps {
  readonly clock: Clock;
  readonly workers: { states(): ReadonlyMap<string, PodState> };
  readonly stats: UsageStatistics;
  /** Something of the pod runs, as far as is known. */
  runsContainers(podUid: string): boolean;
}

/** The node's statistics, as far as they are asked for here. */
interface UsageStatistics {
  /** Everything; what disks hold is measured while somebody waits, and may be missing at first. */
  summary(signal: AbortSignal): Promise<{ readonly pods: readonly PodConsumption[] }>;
  /** Asks nobody but the kernel. */
  cpuAndMemory(signal: AbortSignal): Promise<{ readonly pods: readonly PodConsumption[] }>;
}

const TIMEOUT_MS = 10 * SECOND;
/** Disks that were not measured before are waited for so long, lest a pod that has much looks like one that has nothing. */
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

/** Those that run, and those that end but were given more time than an eviction gives. */
function listActivePods(states: ReadonlyMap<string, PodState>): Pod[] {
  return [...states.values()].flatMap((state) => {
    if (state.subject.kind !== "pod") return [];
    const isActive = state.phase === "syncing" || (state.phase === "terminating" && !state.evicted);
    return isActive ? [state.subject.pod] : [];
  });
}

/** A pod that has not started yet is not one that cannot be measured, which would be the first to go. */
function nothingOf(uid: string): PodConsumption {
  return { podRef: { uid }, memory: { workingSetBytes: 0 }, containers: [] };
}

/** Of a pod that the statistics do not name nothing more is to be expected. */
function isMeasured({ pod, usage }: Candidate): boolean {
  if (usage === undefined || usage.containers.length === 0) return true;
  const known = new Set(usage.volume?.map(({ name }) => name));
  const own = (pod.spec?.volumes ?? []).filter(isEphemeralStorage);
  return own.every(({ name }) => known.has(name)) && usage.containers.every(({ logs }) => logs !== undefined);
}
