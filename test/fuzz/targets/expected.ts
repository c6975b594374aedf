import { ApiError } from "../../../src/api/api-error.ts";
import { CodedError } from "../../../src/base/errors.ts";

/** The value, or undefined where the code refuses its input in its own words. Any other error is thrown on. */
export function refused<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof ApiError || error instanceof CodedError) return undefined;
    throw error;
  }
}
