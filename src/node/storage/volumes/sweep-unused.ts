import { aborted, isAbort, sleep } from "../../../base/abort.ts";
import { createBackOff } from "../../../base/back-off.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";

/** What pods share: disks, and volumes of storage drivers. */
interface Shared {
  readonly users: { readonly size: number };
}

interface SweepDeps<Thing extends Shared> {
  readonly clock: Clock;
  readonly log: Log;
  /** Reads what earlier node agents left. Repeated calls cost nothing. */
  load(): Promise<void>;
  all(): readonly Thing[];
  /** The listener is called when something may have lost its last user. */
  subscribe(listener: () => void): () => void;
  /** Takes it from the node, unless it has a user again. */
  takeAway(thing: Thing, signal: AbortSignal): Promise<void>;
  /** What the log says before the reason, when it could not be taken away. */
  describe(thing: Thing): string;
}

/** The wait between two attempts at one of them, as upstream. */
const RETRY = { initialMs: 500, maxMs: 122_000, resetMs: Number.POSITIVE_INFINITY };

/**
 * Takes away, as soon as no pod uses it, each of what pods share, and retries what fails. Returns once the signal has fired
 * and no work is under way.
 */
export async function sweepUnused<Thing extends Shared>(deps: SweepDeps<Thing>, signal: AbortSignal): Promise<void> {
  const underWay = new Map<Thing, Promise<void>>();
  const sweep = () => {
    if (signal.aborted) return;
    for (const thing of deps.all()) {
      if (thing.users.size > 0 || underWay.has(thing)) continue;
      const attempt = async () => await deps.takeAway(thing, signal);
      const work = retry(deps, deps.describe(thing), signal, attempt).finally(() => {
        underWay.delete(thing);
        // Between the last attempt and now a pod may have used and left it again.
        if (thing.users.size === 0 && deps.all().includes(thing)) sweep();
      });
      underWay.set(thing, work);
    }
  };
  const unsubscribe = deps.subscribe(sweep);
  try {
    await retry(deps, "the directories of volumes cannot be read", signal, deps.load);
    sweep();
    await aborted(signal);
  } finally {
    unsubscribe();
    while (underWay.size > 0) await Promise.all(underWay.values());
  }
}

async function retry(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  what: string,
  signal: AbortSignal,
  attempt: () => Promise<void>,
): Promise<void> {
  const backOff = createBackOff(RETRY);
  while (!signal.aborted) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (isAbort(error)) return;
      log.warn(`${what}; it is tried again`, { error: messageOf(error) });
      const now = clock.monotonic();
      await sleep(clock, backOff.next("", now, now), signal).catch(() => undefined);
    }
  }
}
