import { aborted, isAbort } from "../../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Limiter } from "../../../../base/limiter.ts";
import type { Log } from "../../../../base/log.ts";
import { runWithTasks, type Tasks } from "../../../../base/tasks.ts";

/**
 * Remembers, by key, values that take long or forever to find out. A caller gets the known value at once; if that value
 * is old, a new one is looked up for the next caller. If no value is known yet, the first caller waits a little.
 */
export interface RememberedValues<T> {
  /**
   * The result is undefined when the value is not known in time or cannot be found out. The call takes at most a
   * second.
   */
  read(key: string, question: Question<T>): Promise<Remembered<T> | undefined>;
  /** Lookups continue until they are done or the signal fires. The call returns when no lookup is running any more. */
  run(signal: AbortSignal): Promise<void>;
  /** The number of remembered keys. */
  readonly size: number;
}

interface Question<T> {
  /** A value older than this is looked up again. */
  readonly maxAgeMs: number;
  /** Looks the value up. It must stop when its signal fires. It may reject, and the log then says so. */
  find(signal: AbortSignal): Promise<T>;
}

/** A value and the wall clock time when it was found, in milliseconds since the epoch. */
export interface Remembered<T> {
  readonly value: T;
  readonly at: number;
}

interface RememberedValuesDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Limits how many lookups run at the same time. */
  readonly limiter: Limiter;
}

/** This is longer than almost every lookup takes, and short enough that the caller does not give up. */
const PATIENCE_MS = SECOND;
/** A value that is not asked for is forgotten after this many times its maximum age. */
const FORGOTTEN_AFTER = 10;

interface Entry<T> {
  known: (Remembered<T> & { readonly since: number }) | undefined;
  /** Resolves when the running lookup has ended, whether it succeeded or failed. */
  pending: Promise<void> | undefined;
  /** A caller has waited in vain for this value, so no further caller waits for it. */
  isSlow: boolean;
  askedAt: number;
  maxAgeMs: number;
}

export function createRememberedValues<T>({ clock, log, limiter }: RememberedValuesDeps): RememberedValues<T> {
  const entries = new Map<string, Entry<T>>();
  let sweptAt = clock.monotonic();
  /**
   * Each lookup has a signal of its own, because hundreds of lookups on one signal would mean hundreds of listeners.
   */
  let working: { readonly tasks: Tasks; readonly controllers: Set<AbortController> } | undefined;

  const find = async (key: string, entry: Entry<T>, { find: ask }: Question<T>, signal: AbortSignal) => {
    try {
      const at = clock.now();
      const value = await limiter.run(async () => await ask(signal), signal);
      // The age counts from the end of the lookup. Otherwise a lookup that takes longer than the maximum age would run
      // all the time.
      entry.known = { value, at, since: clock.monotonic() };
      entry.isSlow = false;
    } catch (error) {
      if (isAbort(error)) return;
      // A former value says nothing about something that cannot be read now.
      entry.known = undefined;
      log.debug("Cannot find out a statistic", { of: key, error: messageOf(error) });
    } finally {
      entry.pending = undefined;
    }
  };
  const begin = (key: string, entry: Entry<T>, question: Question<T>) => {
    if (working === undefined || entry.pending !== undefined) return;
    const { tasks, controllers } = working;
    const controller = new AbortController();
    controllers.add(controller);
    entry.pending = new Promise<void>((resolve) => {
      tasks.spawn(`statistic ${key}`, async () => {
        await find(key, entry, question, controller.signal);
        controllers.delete(controller);
        resolve();
      });
    });
  };
  const wait = async (entry: Entry<T>, pending: Promise<void>): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      const timer = clock.setTimer(PATIENCE_MS, () => {
        entry.isSlow = entry.pending === pending;
        resolve();
      });
      pending.then(() => timer.cancel()).then(resolve, reject);
    });
  };
  const forgetUnasked = (now: number) => {
    if (now - sweptAt < MINUTE) return;
    sweptAt = now;
    for (const [key, { pending, askedAt, maxAgeMs }] of entries) {
      if (pending === undefined && now - askedAt > FORGOTTEN_AFTER * maxAgeMs) entries.delete(key);
    }
  };

  return {
    async read(key, question) {
      const now = clock.monotonic();
      const entry = entries.get(key) ?? {
        known: undefined,
        pending: undefined,
        isSlow: false,
        askedAt: 0,
        maxAgeMs: 0,
      };
      forgetUnasked(now);
      entries.set(key, Object.assign(entry, { askedAt: now, maxAgeMs: question.maxAgeMs }));
      if (entry.known === undefined || now - entry.known.since > question.maxAgeMs) begin(key, entry, question);
      const { known, pending, isSlow } = entry;
      if (known === undefined && pending !== undefined && !isSlow) await wait(entry, pending);
      return entry.known && { value: entry.known.value, at: entry.known.at };
    },
    async run(signal) {
      await runWithTasks(signal, async (tasks, inner) => {
        const controllers = new Set<AbortController>();
        working = { tasks, controllers };
        await aborted(inner);
        working = undefined;
        for (const controller of controllers) controller.abort();
      });
    },
    get size() {
      return entries.size;
    },
  };
}
