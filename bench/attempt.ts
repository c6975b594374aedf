import { messageOf } from "../src/base/errors.ts";
import type { RunTools } from "./case-run.ts";

const MINUTE_MS = 60_000;
/** Several times what the longest case takes on a quiet machine. */
const LIMIT_MS = 8 * MINUTE_MS;

/**
 * Runs a case. Where the run wants to go on after a failure, it is told of this one, also of a case that takes too long, and
 * the case gives undefined; what it leaves behind is the caller's to remove.
 */
export async function attempt<T>(
  name: string,
  tools: RunTools,
  work: (tools: RunTools) => Promise<T>,
  limitMs = LIMIT_MS,
): Promise<T | undefined> {
  const limit = tools.onFailure && AbortSignal.timeout(limitMs);
  try {
    return await work(limit ? { ...tools, signal: AbortSignal.any([tools.signal, limit]) } : tools);
  } catch (error) {
    tools.signal.throwIfAborted();
    if (tools.onFailure === undefined) throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
    const tooLong = `it took longer than ${Math.round(limitMs / MINUTE_MS)} minutes`;
    tools.onFailure(`${name}: ${limit?.aborted ? tooLong : messageOf(error)}`);
    return undefined;
  }
}
