import { type ApiError, isApiError } from "../../../api/api-error.ts";
import { createLimiter } from "../../../base/limiter.ts";

/**
 * So many calls are under way at once. Each costs some milliseconds before it waits for the disk, so that more of them
 * would keep the clients of this process waiting.
 */
const MAX_TOGETHER = 16;

/** How far the work came: the number of calls that succeeded, and the error that ended it. */
interface SlowStartResult {
  readonly succeeded: number;
  readonly error: ApiError | undefined;
}

/**
 * Calls `work` so many times, in batches of 1, 2, 4, … at the same time, and stops after a batch in which a call
 * failed with an ApiError. So a hundred creations that a quota refuses are one refusal, and not a hundred
 * (`slowStartBatch`). Rejects with any other error.
 */
export async function runSlowStart(count: number, work: (index: number) => Promise<unknown>): Promise<SlowStartResult> {
  let succeeded = 0;
  for (let begun = 0, size = 1; begun < count; size *= 2) {
    const first = begun;
    const batch = Array.from({ length: Math.min(size, count - begun) }, (_, index) => () => work(first + index));
    const errors = await callTogether(batch);
    succeeded += batch.length - errors.length;
    if (errors.length > 0) return { succeeded, error: errors[0] };
    begun += batch.length;
  }
  return { succeeded, error: undefined };
}

/** Makes all calls, some at the same time. Returns the ApiErrors when all have ended; rejects with any other error. */
export async function callTogether(calls: ReadonlyArray<() => Promise<unknown>>): Promise<readonly ApiError[]> {
  const limiter = createLimiter(MAX_TOGETHER);
  const results = await Promise.all(calls.map((call) => limiter.run(() => attempt(call))));
  return results.filter((error) => error !== undefined);
}

async function attempt(call: () => Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
}
