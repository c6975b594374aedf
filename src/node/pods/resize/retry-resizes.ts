import { type Clock, MINUTE } from "../../../base/clock.ts";
import { repeat } from "../../../base/interval.ts";
import type { Part } from "../../../base/run-parts.ts";

interface ResizeRetryDeps {
  readonly clock: Clock;
  /** The pods whose resizes wait for room. */
  pendingUids(): readonly string[];
  /** The pod is to be looked at again. */
  onDecidable(uid: string): void;
}

/** Upstream's period; what changes the pods of the node has them looked at besides. */
const RETRY_PERIOD_MS = 3 * MINUTE;

/** Has resizes that wait for room looked at again: the node object or a pod's end may have made some. */
export function createResizeRetry({ clock, pendingUids, onDecidable }: ResizeRetryDeps): Part {
  return {
    name: "pending resizes",
    run: async (signal) =>
      await repeat(clock, { periodMs: RETRY_PERIOD_MS, signal }, async () => {
        // One look is at all of them.
        const [first] = pendingUids();
        if (first !== undefined) onDecidable(first);
      }),
  };
}
