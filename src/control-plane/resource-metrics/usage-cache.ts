import { isAbort } from "../../base/abort.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { createLimiter } from "../../base/limiter.ts";
import type { Log } from "../../base/log.ts";
import { createSharedCalls } from "../../base/shared-calls.ts";
import { decodeNodeUsage, type ToldNodeUsage } from "./node-usage.ts";

/** Tells what nodes use; undefined for a node that does not tell. Rejects with `AbortedError` only. */
export type ReadUsage = (node: string, signal: AbortSignal) => Promise<ToldNodeUsage | undefined>;

interface UsageCacheDeps {
  /** Reads the text of a node's summary. */
  readSummary(node: string, signal: AbortSignal): Promise<string>;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
}

/** How long an answer is given again: as often as metrics-server asks. It holds for failures, too. */
const KEPT_MS = 15 * SECOND;
/** A node that nobody asked for so long may be gone. Until then a failure that lasts is warned of once. */
const FORGOTTEN_MS = 10 * KEPT_MS;
/** Nodes that are called at the same time; the others wait. */
const MAX_CALLS = 16;

interface Known {
  readonly usage: ToldNodeUsage | undefined;
  readonly at: number;
}

/** Asks a node when somebody wants to know, and only then; callers who ask at the same time share the call. */
export function createUsageCache({ readSummary, clock, log }: UsageCacheDeps): ReadUsage {
  const calls = createSharedCalls<ToldNodeUsage | undefined>();
  const line = createLimiter(MAX_CALLS);
  const latest = new Map<string, Known>();

  const ask = async (node: string, signal: AbortSignal): Promise<ToldNodeUsage | undefined> => {
    try {
      return decodeNodeUsage(await line.run(async () => await readSummary(node, signal), signal));
    } catch (error) {
      if (isAbort(error)) throw error;
      const isNew = latest.get(node)?.usage !== undefined || !latest.has(node);
      const tell = isNew ? log.warn : log.debug;
      tell("A node does not tell what its pods use", { node, error: messageOf(error) });
      return undefined;
    }
  };
  const dropOld = () => {
    for (const [node, { at }] of latest) if (clock.monotonic() - at >= FORGOTTEN_MS) latest.delete(node);
  };

  return async (node, signal) => {
    const known = latest.get(node);
    if (known !== undefined && clock.monotonic() - known.at < KEPT_MS) return known.usage;
    return await calls.join(node, signal, async (inner) => {
      const usage = await ask(node, inner);
      latest.set(node, { usage, at: clock.monotonic() });
      dropOld();
      return usage;
    });
  };
}
