import { isApiError } from "../../api/api-error.ts";
import { aborted } from "../../base/abort.ts";
import { assert } from "../../base/assert.ts";
import { createBackOff } from "../../base/back-off.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createTasks } from "../../base/tasks.ts";
import { type QueueMetrics, UNOBSERVED } from "./queue-metrics.ts";

/**
 * Keys to be brought in order, each at most once in line and never twice at a time:
 *
 *     add ──▶ ready ──▶ running ──▶ done
 *               ▲          │ added meanwhile, or failed
 *               └─ delayed ◀┘
 *
 * There is one entry a key however often it is added, and keys are of objects that are stored or just went: the store's
 * bound is this one's too. An empty queue has no timer and no loop.
 */
export interface WorkQueue {
  /**
   * The work on the key begins in the same turn of the event loop as its first `add`, but never before the caller has
   * returned.
   */
  add(key: string): void;
  addAfter(key: string, delayMs: number): void;
  /**
   * Works until the signal fires, and returns when the reconciliations that run then have ended. May be called once.
   */
  run(signal: AbortSignal): Promise<void>;
  /** The number of keys that wait or run. */
  readonly size: number;
}

export interface WorkQueueOptions {
  /** For logs and metrics; upstream's name where it has such a queue. */
  name: string;
  /** How many keys are reconciled at the same time. Default 4. */
  workers?: number;
  /**
   * Brings one key in order. It is called in any state of the key and any number of times. Returns after how many
   * milliseconds it wants to be called again. An ApiError leads to another attempt with back-off; any other error ends
   * the queue.
   */
  reconcile: (key: string, signal: AbortSignal) => Promise<number | undefined>;
}

const DEFAULT_WORKERS = 4;
const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 60_000;
/** A conflict is solved by reading again. Only failures that last longer than this are worth a warning. */
const QUIET_RETRY_MS = 1_000;

interface WorkQueueDeps {
  clock: Clock;
  log: Log;
  /** Default: nobody wants to know. */
  queueMetrics?: QueueMetrics | undefined;
}

export function createWorkQueue({ clock, log, queueMetrics }: WorkQueueDeps, options: WorkQueueOptions): WorkQueue {
  const { name, workers = DEFAULT_WORKERS, reconcile } = options;
  const observer = queueMetrics?.observe(name) ?? UNOBSERVED;
  const ready = new Set<string>();
  const running = new Set<string>();
  const again = new Set<string>();
  const delayed = new Map<string, { timer: Timer; dueAt: number }>();
  const backOff = createBackOff({ initialMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS });
  const stop = new AbortController();
  let started = false;
  let crash: { error: unknown } | undefined;
  const tasks = createTasks((_key, error) => {
    crash ??= { error };
    stop.abort();
  });

  const undelay = (key: string) => {
    delayed.get(key)?.timer.cancel();
    delayed.delete(key);
  };
  const add = (key: string) => {
    if (stop.signal.aborted) return;
    undelay(key);
    observer.added(key);
    if (running.has(key)) again.add(key);
    else ready.add(key);
    startReady();
  };
  const addAfter = (key: string, delayMs: number) => {
    if (stop.signal.aborted) return;
    observer.deferred();
    if (ready.has(key) || again.has(key)) return;
    const dueAt = clock.monotonic() + delayMs;
    if ((delayed.get(key)?.dueAt ?? Number.POSITIVE_INFINITY) <= dueAt) return;
    undelay(key);
    delayed.set(key, { dueAt, timer: clock.setTimer(delayMs, () => add(key)) });
  };
  const startReady = () => {
    if (!started || stop.signal.aborted) return;
    for (const key of ready) {
      if (running.size >= workers) return;
      ready.delete(key);
      running.add(key);
      observer.started(key);
      tasks.spawn(`${name} ${key}`, () => work(key));
    }
  };
  const work = async (key: string) => {
    // The caller that adds a key may be in the middle of telling several listeners of a change. All of them hear of it
    // before this writes.
    await Promise.resolve();
    try {
      const delayMs = await reconcile(key, stop.signal);
      backOff.reset(key);
      if (delayMs !== undefined) addAfter(key, delayMs);
    } catch (error) {
      if (!isApiError(error)) throw error;
      retry(key, error);
    } finally {
      running.delete(key);
      observer.ended(key);
      if (again.delete(key)) add(key);
      else startReady();
    }
  };
  const retry = (key: string, error: Error) => {
    const delayMs = backOff.next(key, clock.monotonic(), clock.monotonic());
    const fields = { controller: name, key, error: messageOf(error), delayMs };
    if (delayMs > QUIET_RETRY_MS) log.warn("reconciling failed, trying again", fields);
    else log.debug("reconciling failed, trying again", fields);
    addAfter(key, delayMs);
  };

  return {
    add,
    addAfter,
    async run(signal) {
      assert(!started, `the queue of ${name} runs once`);
      started = true;
      const follow = () => stop.abort();
      signal.addEventListener("abort", follow, { once: true });
      if (signal.aborted) stop.abort();
      startReady();
      await aborted(stop.signal);
      signal.removeEventListener("abort", follow);
      for (const key of [...delayed.keys()]) undelay(key);
      await tasks.settled();
      if (crash !== undefined) throw crash.error;
    },
    get size() {
      return ready.size + running.size + delayed.size;
    },
  };
}
