import type { CSIDriver } from "../../../api/gen/types.ts";
import { aborted, childController, isAbort } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import { runWithTasks, type Tasks } from "../../../base/tasks.ts";

/** Asks drivers from time to time how many volumes they can take. */
interface AllocatableRefresh {
  /** Runs until the signal fires; returns when no driver is being asked any more. */
  run(signal: AbortSignal): Promise<void>;
}

interface AllocatableRefreshDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly drivers: {
    get(name: string): unknown;
    list(): ReadonlyArray<{ readonly name: string }>;
    subscribe(listener: (name: string) => void): () => void;
    refresh(name: string, signal: AbortSignal): Promise<void>;
  };
  readonly objects: {
    get(name: string): CSIDriver | undefined;
    subscribe(listener: (name: string) => void): () => void;
  };
}

/** The API's own lower bound, applied here for a server that does not enforce it. */
const MIN_PERIOD_SECONDS = 10;

/**
 * Implements the feature gate MutableCSINodeAllocatableCount, on by default from 1.35. Each registered driver whose
 * CSIDriver has `nodeAllocatableUpdatePeriodSeconds` is asked with that period (upstream:
 * pkg/volume/csi/csi_node_updater.go). A change of the period starts it over; after a failure the next turn follows.
 */
export function createAllocatableRefresh(deps: AllocatableRefreshDeps): AllocatableRefresh {
  const { clock, drivers, objects } = deps;

  const readPeriod = (name: string): number | undefined => {
    if (drivers.get(name) === undefined) return undefined;
    const seconds = objects.get(name)?.spec.nodeAllocatableUpdatePeriodSeconds ?? 0;
    return seconds > 0 ? Math.max(seconds, MIN_PERIOD_SECONDS) * SECOND : undefined;
  };
  const refresh = async (driver: string, signal: AbortSignal) => {
    try {
      await drivers.refresh(driver, signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      deps.log.warn("Cannot ask a CSI driver for its volume limit", { driver, error: messageOf(error) });
    }
  };

  const follow = async (tasks: Tasks, signal: AbortSignal): Promise<void> => {
    const turns = new Map<string, { readonly periodMs: number; end(): void }>();

    const sync = (name: string) => {
      const periodMs = readPeriod(name);
      const turn = turns.get(name);
      if (turn?.periodMs === periodMs || signal.aborted) return;
      turn?.end();
      turns.delete(name);
      if (periodMs === undefined) return;
      const own = childController(signal);
      turns.set(name, { periodMs, end: () => own.controller.abort() });
      tasks.spawn(`volume limit of ${name}`, async () => {
        const options = { periodMs, signal: own.controller.signal, delayFirst: true };
        try {
          await repeat(clock, options, async () => refresh(name, own.controller.signal));
        } finally {
          own.release();
        }
      });
    };

    const stops = [drivers.subscribe(sync), objects.subscribe(sync)];
    for (const { name } of drivers.list()) sync(name);
    await aborted(signal);
    for (const stop of stops) stop();
  };

  return { run: async (signal) => await runWithTasks(signal, follow) };
}
