import { isApiError } from "../../api/api-error.ts";
import { aborted } from "../../base/abort.ts";
import { assert } from "../../base/assert.ts";
import { createBackOff } from "../../base/back-off.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { createTasks } from "../../base/tasks.ts";

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
  /** In the same turn of the event loop as the first add, never before the caller has returned. */
  add(key: string): void;
  addAfter(key: string, delayMs: number): void;
  /** Works until the signal fires; returns when what runs then has ended. Once in a queue's life. */
  run(signal: AbortSignal): Promise<void>;
  /** Keys that wait or run. */
  readonly size: number;
}

export interface WorkQueueOptions {
  /** For logs. */
  name: string;
  /** How many keys at a time. Default 4. */
  workers?: number;
  /**
   * Brings one key in order; called with whatever state there is, however often. Returns after how many milliseconds it
   * wants to look again. An ApiError means try again with back-off, any other error ends the queue.
   */
  reconcile: (key: string, signal: AbortSignal) => Promise<number | undefined>;
}

const DEFAULT_WORKERS = 4;
const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 60_000;
/** A conflict is solved by reading again; only what stays broken is worth a line in the log. */
const QUIET_RETRY_MS = 1_000;

export function createWorkQueue({ clock, log }: { clock: Clock; log: Log }, options: WorkQueueOptions): WorkQueue {
  const { name, workers = DEFAULT_WORKERS, reconcile } = options;
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
    if (running.has(key)) again.add(key);
    else ready.add(key);
    startReady();
  };
  const addAfter = (key: string, delayMs: number) => {
    if (stop.signal.aborted || ready.has(key) || again.has(key)) return;
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
      tasks.spawn(`${name} ${key}`, () => work(key));
    }
  };
  const work = async (key: string) => {
    // Who adds a key may be in the middle of telling others: they hear first, and then is written.
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
