import { aborted, isAbort } from "../../../../base/abort.ts";
import { type Clock, MINUTE, SECOND } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Limiter } from "../../../../base/limiter.ts";
import type { Log } from "../../../../base/log.ts";
import { runWithTasks, type Tasks } from "../../../../base/tasks.ts";

/**
 * What takes long to find out, or for ever, remembered by key. Who asks gets what is known, at once, and where that is old
 * it is found out anew for who asks next; where nothing is known yet, who asks first waits a little.
 */
export interface RememberedValues<T> {
  /** Undefined where it is not known in time, and where nobody could find it out. Takes a second at the most. */
  read(key: string, question: Question<T>): Promise<Remembered<T> | undefined>;
  /** What is found out goes on until it is done or the signal fires; returns when nothing goes on any more. */
  run(signal: AbortSignal): Promise<void>;
  /** How many are remembered. */
  readonly size: number;
}

interface Question<T> {
  /** What is older is found out anew. */
  readonly maxAgeMs: number;
  /** Heeds its signal; may reject, of which the log tells. */
  find(signal: AbortSignal): Promise<T>;
}

/** A value, and when it was found, by the wall clock. */
export interface Remembered<T> {
  readonly value: T;
  readonly at: number;
}

interface RememberedValuesDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** How much is found out at once. */
  readonly limiter: Limiter;
}

/** Longer than almost everything takes, and not so long that who asks gives up. */
const PATIENCE_MS = SECOND;
/** What nobody asked for is forgotten after this many times the age at which it would be found out anew. */
const FORGOTTEN_AFTER = 10;

interface Entry<T> {
  known: (Remembered<T> & { readonly since: number }) | undefined;
  /** It settles when what goes on has ended, well or not. */
  pending: Promise<void> | undefined;
  /** Somebody has waited in vain: nobody waits for it again. */
  isSlow: boolean;
  askedAt: number;
  maxAgeMs: number;
}

export function createRememberedValues<T>({ clock, log, limiter }: RememberedValuesDeps): RememberedValues<T> {
  const entries = new Map<string, Entry<T>>();
  let sweptAt = clock.monotonic();
  /** Each question has a signal of its own: hundreds of them on one would be hundreds of listeners. */
  let working: { readonly tasks: Tasks; readonly controllers: Set<AbortController> } | undefined;

  const find = async (key: string, entry: Entry<T>, { find: ask }: Question<T>, signal: AbortSignal) => {
    try {
      const at = clock.now();
      const value = await limiter.run(async () => await ask(signal), signal);
      // From now on, so that what takes longer than its age is not found out all the time.
      entry.known = { value, at, since: clock.monotonic() };
      entry.isSlow = false;
    } catch (error) {
      if (isAbort(error)) return;
      // What was known says nothing about what cannot be read now.
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
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(PATIENCE_MS, () => {
        entry.isSlow = entry.pending === pending;
        resolve();
      });
      void pending.then(() => timer.cancel()).then(resolve);
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
