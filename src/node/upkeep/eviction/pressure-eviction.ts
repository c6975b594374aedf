import { isAbort, sleep } from "../../../base/abort.ts";
import { createChangeFlag } from "../../../base/change-flag.ts";
import { SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Decision } from "../../../base/timeline.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import { type DiskLayout, type DiskLayoutReader, withContainerFs } from "./disk-layout.ts";
import { createVictimEviction, type VictimEvictionDeps } from "./evict-victim.ts";
import type { MemoryAlarm } from "./memory-alarm.ts";
import { computeNextLook } from "./next-look.ts";
import { type EvictionNeed, planPressureEviction } from "./plan-pressure-eviction.ts";
import type { PressureNotice } from "./pressure-notice.ts";
import { advancePressure, chooseThreshold, NO_PRESSURE_STATE } from "./pressure-state.ts";
import type { CandidateReader } from "./read-candidates.ts";
import type { SignalReader } from "./read-signals.ts";
import { type NodeReclaim, planReclaim } from "./reclaim-node.ts";
import { isBelow, SIGNALS, type SignalObservations } from "./signals.ts";

/** Keeps the node from running out of memory, disk and processes. */
interface PressureEviction {
  /** Runs until the signal fires, and returns when none of its work is under way. */
  run(signal: AbortSignal): Promise<void>;
}

interface PressureEvictionDeps extends VictimEvictionDeps {
  readonly signals: SignalReader;
  readonly layout: DiskLayoutReader;
  readonly candidates: CandidateReader;
  readonly nodeReclaim: NodeReclaim;
  /** The notice is set after every look. */
  readonly notice: Pick<PressureNotice, "set">;
  recordNodeEvent(decision: Decision): void;
  /** Undefined: memory is only looked at. */
  readonly alarm?: Pick<MemoryAlarm, "adjust" | "subscribe"> | undefined;
}

interface PressureEvictionOptions {
  readonly thresholds: readonly EvictionThreshold[];
  /** `evictionPressureTransitionPeriod`. */
  readonly transitionPeriodMs: number;
  /** `evictionMaxPodGracePeriod`. */
  readonly maxPodGracePeriodSeconds: number;
}

/** After this time the pod's resources count as given back. Upstream checks this often whether a pod has ended. */
const AFTER_EVICTION_MS = SECOND;
/** The shortest time between two looks, however often the kernel tells that a threshold was crossed. */
const AFTER_LOOK_MS = 10;

/**
 * Disks get this long to show that something was removed: upstream's figures of them are this old. containerd deletes
 * the layers of a removed container at its next collection of garbage, due after some 50 times what one takes.
 */
const FREEING_MS = 10 * SECOND;
const FREEING_LOOK_MS = 250;

/** What is taken for the layout of the disks while nothing is known of it: one file system. */
const UNKNOWN_DISKS: DiskLayout = { nodeFs: "", imageFs: "", containerFs: "", isDedicated: false, isSplit: false };

/**
 * Looks at the node again and again: it reads how much of every resource is left and finds the thresholds that are met.
 * If a threshold calls for it, one thing is given up: first things that no pod needs, and otherwise one pod, whose end
 * is awaited. It follows `synchronize` (pkg/kubelet/eviction/eviction_manager.go); the decisions are in
 * `pressure-state.ts` and `plan-pressure-eviction.ts`.
 */
export function createPressureEviction(deps: PressureEvictionDeps, options: PressureEvictionOptions): PressureEviction {
  const { clock, log } = deps;
  const evictVictim = createVictimEviction(deps);
  let state = NO_PRESSURE_STATE;
  let previous: SignalObservations = new Map();
  let thresholds = options.thresholds;
  let layout: DiskLayout | undefined;
  /** Until when disks wait for what a removal frees, in milliseconds of `Clock.monotonic`. Nothing more goes for them. */
  let freeingUntil: number | undefined;

  /** Finds the layout of the disks. While it is unknown, disks are not judged, but everything else is. */
  const findLayout = async (signal: AbortSignal): Promise<void> => {
    if (layout !== undefined) return;
    try {
      layout = await deps.layout.read(signal);
      thresholds = withContainerFs(options.thresholds, layout);
    } catch (error) {
      if (isAbort(error)) throw error;
      log.debug("Eviction manager: failed to get HasDedicatedImageFs", { error: messageOf(error) }, 2);
    }
  };

  /** Returns what must be given up for, and the time until the next look if nothing must be. */
  const look = async (signal: AbortSignal): Promise<{ need: EvictionNeed | undefined; waitMs: number }> => {
    await findLayout(signal);
    const observations = await deps.signals.read(layout, signal);
    const now = clock.monotonic();
    const { transitionPeriodMs } = options;
    const verdict = advancePressure(state, { thresholds, observations, now, transitionPeriodMs });
    state = verdict.state;
    deps.notice.set(verdict.pressure);
    deps.alarm?.adjust(observations);
    const waitMs = computeNextLook({ thresholds, observations, previous, state, now });
    previous = observations;
    const threshold = chooseThreshold(verdict.due);
    return { need: threshold && { threshold, due: verdict.due, observations }, waitMs };
  };

  /**
   * Frees what no pod needs. The result is undefined if nothing more must be done for now, or if the signal is no longer
   * known.
   */
  const reclaimNode = async (
    need: EvictionNeed,
    disks: DiskLayout,
    signal: AbortSignal,
  ): Promise<EvictionNeed | undefined> => {
    const { threshold, due } = need;
    const what = planReclaim(threshold.signal, disks);
    if (what.length === 0) return need;
    const hasRemoved = await deps.nodeReclaim.reclaim(what, signal);
    const observations = await deps.signals.read(layout, signal);
    if (!observations.has(threshold.signal)) return undefined;
    const { pressure, resource } = SIGNALS[threshold.signal];
    const isLeft = (each: EvictionThreshold): boolean => {
      const observed = observations.get(each.signal);
      return (
        SIGNALS[each.signal].pressure === pressure && observed !== undefined && isBelow(each, observed, each.minReclaim)
      );
    };
    const left = due.filter(isLeft);
    const first = chooseThreshold(left);
    if (first === undefined) {
      log.info("Eviction manager: able to reduce resource pressure without evicting pods.", { resourceName: resource });
      return undefined;
    }
    // Pods that end one after another must not put the eviction off again and again, so there is one wait for each.
    if (hasRemoved && freeingUntil === undefined) {
      freeingUntil = clock.monotonic() + FREEING_MS;
      return undefined;
    }
    return { threshold: first, due: left, observations };
  };

  const choosePod = async (
    need: EvictionNeed,
    disks: Pick<DiskLayout, "isDedicated" | "isSplit">,
    signal: AbortSignal,
  ) => {
    const { resource } = SIGNALS[need.threshold.signal];
    log.info("Eviction manager: must evict pod(s) to reclaim", { resourceName: resource });
    const candidates = await deps.candidates.read(resource, signal);
    if (candidates.length === 0) {
      log.error("Eviction manager: eviction thresholds have been met, but no pods are active to evict");
      return undefined;
    }
    if (candidates.every(({ usage }) => usage === undefined)) throw new Error("nothing is known of what any pod uses");
    const { maxPodGracePeriodSeconds } = options;
    const plan = planPressureEviction({ ...need, layout: disks, candidates, maxPodGracePeriodSeconds });
    if (plan === undefined) log.info("Eviction manager: unable to evict any pods from the node");
    return plan;
  };

  /** Acts on a need, and returns whether a pod was evicted. */
  const meet = async (need: EvictionNeed, signal: AbortSignal): Promise<boolean> => {
    const { resource } = SIGNALS[need.threshold.signal];
    log.info("Eviction manager: attempting to reclaim", { resourceName: resource, signal: need.threshold.signal });
    const message = `Attempting to reclaim ${resource}`;
    deps.recordNodeEvent({ type: "Warning", reason: "EvictionThresholdMet", message });
    const disks = layout ?? UNKNOWN_DISKS;
    const left = await reclaimNode(need, disks, signal);
    const plan = left && (await choosePod(left, disks, signal));
    if (plan === undefined || left === undefined) return false;
    return await evictVictim({ plan, need: left, metSince: state.metSince.get(left.threshold) }, signal);
  };

  const isFreeing = ({ threshold }: EvictionNeed): boolean =>
    SIGNALS[threshold.signal].pressure === "disk" && freeingUntil !== undefined && clock.monotonic() < freeingUntil;

  const round = async (signal: AbortSignal): Promise<number> => {
    const { need, waitMs } = await look(signal);
    if (need === undefined) {
      freeingUntil = undefined;
      return waitMs;
    }
    if (isFreeing(need)) return Math.min(waitMs, FREEING_LOOK_MS);
    try {
      if (!(await meet(need, signal))) return isFreeing(need) ? Math.min(waitMs, FREEING_LOOK_MS) : waitMs;
      freeingUntil = undefined;
    } catch (error) {
      if (isAbort(error)) throw error;
      log.error("Eviction manager: failed to synchronize", { error: messageOf(error) });
      return waitMs;
    }
    await sleep(clock, AFTER_EVICTION_MS, signal);
    return 0;
  };

  const alarm = createChangeFlag(clock);
  deps.alarm?.subscribe(alarm.raise);
  return {
    async run(signal) {
      for (;;) {
        const waitMs = await round(signal);
        const leastMs = Math.min(waitMs, AFTER_LOOK_MS);
        await sleep(clock, leastMs, signal);
        // The alarm ends the wait for the next look.
        await alarm.wait(waitMs - leastMs, signal);
      }
    },
  };
}
