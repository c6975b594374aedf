import { type ApiError, isApiError } from "../../../api/api-error.ts";

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
    const batch = Math.min(size, count - begun);
    const first = begun;
    const results = await Promise.all(Array.from({ length: batch }, (_, index) => attempt(() => work(first + index))));
    const errors = results.filter((result) => result !== undefined);
    succeeded += batch - errors.length;
    if (errors.length > 0) return { succeeded, error: errors[0] };
    begun += batch;
  }
  return { succeeded, error: undefined };
}

async function attempt(work: () => Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
}
