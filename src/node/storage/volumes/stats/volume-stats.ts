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

/** How full the volumes of pods were when they were last measured. */
export interface VolumeStats {
  /** The last reports by pod. A volume whose last measurement failed is left out. */
  read(): Iterable<PodVolumeStats>;
  /** Measures periodically until the signal fires; returns when no measurement is under way. */
  run(signal: AbortSignal): Promise<void>;
}

/** The reports of one pod with volumes that can be measured. */
export interface PodVolumeStats {
  readonly pod: PodReference;
  readonly volumes: readonly VolumeReport[];
}

/** One measurement of a volume. */
export interface VolumeReport extends VolumeUsage {
  /** The volume's name in the pod. */
  readonly volumeName: string;
  readonly claim: { readonly namespace: string; readonly name: string } | undefined;
  /** Milliseconds since the epoch. */
  readonly measuredAt: number;
}

interface VolumeStatsDeps extends UsageDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly volumes: Pick<NodeVolumes, "all" | "ofPod" | "subscribe">;
  onEvent(pod: Pod, event: { readonly type: "Warning"; readonly reason: string; readonly message: string }): void;
}

/** A pod is first measured at a random time within this, so that pods that start together are not measured together. */
const FIRST_WITHIN_MS = 10 * SECOND;

/** A pod that is measured. */
interface WatchedPod {
  readonly pod: PodReference;
  /** The last reports by the volumes' names. */
  readonly reports: Map<string, VolumeReport>;
  /** The last event's message for each volume that is not healthy. */
  readonly told: Map<string, string>;
  end(): void;
}

/**
 * Measures the volumes of pods. Each pod with such volumes has a task of its own that measures them one after another, after
 * a wait of one to two periods (pkg/kubelet/server/stats/volume_stat_calculator.go). So a driver or server that does not
 * answer delays only the pods that use it. Without such pods nothing runs. `periodMs` is `volumeStatsAggPeriod`; with 0 or
 * less nothing is measured.
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
    // A measurement during the tear-down may be of the directory below the mount, so that it is dropped.
    throwIfAborted(signal);
    if (usage === undefined) {
      reports.delete(volumeName);
      return;
    }
    reports.set(volumeName, { ...usage, volumeName, claim: claimOf(volume), measuredAt: deps.clock.now() });
    const message = usage.condition?.abnormal ? usage.condition.message : undefined;
    // Upstream repeats the event every minute; here it is recorded when the message changes.
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
