import { isAbort } from "../../base/abort.ts";
import { throwJoined } from "../../base/errors.ts";
import type { Controller } from "./controller.ts";

/**
 * Runs all of them until `stop` is aborted. When one of them fails the others are stopped, and its error is thrown when
 * they have ended.
 */
export async function runTogether(controllers: readonly Controller[], stop: AbortController): Promise<void> {
  const results = await Promise.allSettled(
    controllers.map(async (controller) => {
      try {
        await controller.run(stop.signal);
      } catch (error) {
        stop.abort();
        throw error;
      }
    }),
  );
  const errors = results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : []));
  throwJoined(
    errors.filter((error) => !isAbort(error)),
    "the control plane",
  );
}
