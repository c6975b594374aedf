import type { Pod } from "../../../../api/gen/types.ts";
import { type PodReference, podReference } from "../../../../api/pods.ts";
import { aborted, childController, isAbort, sleep, throwIfAborted } from "../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import { jitter, type Random } from "../../../../base/random.ts";
import { runWithTasks, type Tasks } from "../../../../base/tasks.ts";
import type { NodeVolume, NodeVolumes } from "./node-volumes.ts";
import { isMeasurable, readUsage, type UsageDeps, type VolumeUsage } from "./read-usage.ts";

/** How full the volumes of pods are, as they were found last. */
export interface VolumeStats {
  /** By pod; what could not be read last time is left out. */
  read(): Iterable<PodVolumeStats>;
  /** Asks from time to time, until the signal fires; returns when nobody is being asked any more. */
  run(signal: AbortSignal): Promise<void>;
}

/** Of one pod with volumes that can be measured. */
export interface PodVolumeStats {
  readonly pod: PodReference;
  readonly volumes: readonly VolumeReport[];
}

/** One volume at one time. */
export interface VolumeReport extends VolumeUsage {
  /** As the pod names it. */
  readonly volumeName: string;
  readonly claim: { readonly namespace: string; readonly name: string } | undefined;
  /** By the wall clock, milliseconds since the epoch. */
  readonly measuredAt: number;
}

interface VolumeStatsDeps extends UsageDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly volumes: Pick<NodeVolumes, "all" | "ofPod" | "subscribe">;
  onEvent(pod: Pod, event: { readonly type: "Warning"; readonly reason: string; readonly message: string }): void;
}

/** The first look at a pod's volumes comes within this, so that pods that start together do not ask together. */
const FIRST_WITHIN_MS = 10 * SECOND;

/** What is known of one pod. */
interface WatchedPod {
  readonly pod: PodReference;
  /** By the volumes' names. */
  readonly reports: Map<string, VolumeReport>;
  /** What the pod was told last of volumes that are not well. */
  readonly told: Map<string, string>;
  end(): void;
}

/**
 * Each pod with volumes that can be measured has a task that reads them one after another, every period and up to one more
 * (pkg/kubelet/server/stats/volume_stat_calculator.go); so a driver or a server that does not answer delays the reports of
 * the pods that use it, and of no other. Without such pods nothing runs. `periodMs`: `volumeStatsAggPeriod`; 0 or less
 * asks nobody.
 */
export function createVolumeStats(deps: VolumeStatsDeps, { periodMs }: { periodMs: number }): VolumeStats {
  const { clock, random, volumes } = deps;
  const watched = new Map<string, WatchedPod>();

  const watchPod = async (podUid: string, known: WatchedPod, signal: AbortSignal) => {
    await sleep(clock, random.next() * Math.min(periodMs, FIRST_WITHIN_MS), signal);
    while (!signal.aborted) {
      for (const volume of [...volumes.ofPod(podUid)].filter(isMeasurable)) await measure(deps, volume, known, signal);
      await sleep(clock, jitter(random, periodMs, 1), signal);
    }
  };

  const follow = async (tasks: Tasks, signal: AbortSignal): Promise<void> => {
    const sync = (podUid: string) => {
      const measurable = [...volumes.ofPod(podUid)].find(isMeasurable);
      const known = watched.get(podUid);
      if (measurable === undefined) {
        watched.delete(podUid);
        known?.end();
        return;
      }
      if (known || signal.aborted) return;
      const own = childController(signal);
      const pod: WatchedPod = {
        pod: podReference(measurable.pod),
        reports: new Map(),
        told: new Map(),
        end: () => own.controller.abort(),
      };
      watched.set(podUid, pod);
      tasks.spawn(`volume statistics of ${podUid}`, async () => {
        await watchPod(podUid, pod, own.controller.signal).finally(own.release);
      });
    };

    const unsubscribe = volumes.subscribe(sync);
    for (const { pod } of volumes.all()) sync(podReference(pod).uid);
    await aborted(signal);
    unsubscribe();
  };

  return {
    *read() {
      for (const { pod, reports } of watched.values()) yield { pod, volumes: [...reports.values()] };
    },
    async run(signal) {
      if (periodMs <= 0) return await aborted(signal);
      await runWithTasks(signal, follow).finally(() => watched.clear());
    },
  };
}

async function measure(
  deps: VolumeStatsDeps,
  volume: NodeVolume,
  { pod, reports, told }: WatchedPod,
  signal: AbortSignal,
): Promise<void> {
  const { volumeName } = volume;
  try {
    const usage = await readUsage(deps, volume, signal);
    // What was read while the pod's volumes were torn down may be of the directory beneath.
    throwIfAborted(signal);
    if (usage === undefined) {
      reports.delete(volumeName);
      return;
    }
    reports.set(volumeName, { ...usage, volumeName, claim: claimOf(volume), measuredAt: deps.clock.now() });
    const message = usage.condition?.abnormal ? usage.condition.message : undefined;
    // Upstream says it anew every minute; here it is told when it changes.
    if (message === undefined) told.delete(volumeName);
    else if (told.get(volumeName) !== message) {
      told.set(volumeName, message);
      const event = { reason: "VolumeConditionAbnormal", message: `Volume ${volumeName}: ${message}` };
      deps.onEvent(volume.pod, { type: "Warning", ...event });
    }
  } catch (error) {
    if (isAbort(error)) throw error;
    reports.delete(volumeName);
    const { namespace, name, uid } = pod;
    const fields = { pod: `${namespace}/${name}`, uid, volume: volumeName, error: messageOf(error) };
    deps.log.debug("Cannot tell how full a volume is", fields);
  }
}

function claimOf({ source }: NodeVolume): VolumeReport["claim"] {
  if (source.kind !== "persistent") return undefined;
  const { namespace = "", name = "" } = source.claim.metadata ?? {};
  return { namespace, name };
}
