import { isAbort, sleep } from "../../../base/abort.ts";
import { createChangeFlag } from "../../../base/change-flag.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { ContainerState } from "../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../cri/port.ts";

export interface ContainerEndDeps {
  readonly runtime: Pick<RuntimeService, "containerStatus">;
  /** Calls the listener when something happened to a container in the runtime; returns how to stop it. */
  readonly onContainerChange: (listener: (containerId: string) => void) => () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the runtime is asked where no event came. Upstream asks each second, for each reader. */
const UNTOLD_MS = 10 * SECOND;
/** How long after a container's end its last output may still come into the log. */
const LAST_WORDS_MS = 100;

/**
 * Resolves when the container has ended and its log is complete. While the runtime is away or cannot tell, the
 * container counts as running: it runs on while the runtime restarts. Rejects with AbortedError.
 */
export async function untilContainerEnds(
  { runtime, onContainerChange, clock, log }: ContainerEndDeps,
  containerId: string,
  signal: AbortSignal,
): Promise<void> {
  const changed = createChangeFlag(clock);
  const stop = onContainerChange((id) => {
    if (id === containerId) changed.raise();
  });
  try {
    for (let ranBefore = false; ; ranBefore = true) {
      const runs = await isRunning(runtime, containerId, signal).catch((error: unknown) => {
        if (isAbort(error)) throw error;
        log.debug("cannot tell whether a container runs whose log is followed", { error: messageOf(error) });
        return true;
      });
      if (!runs) return ranBefore ? await sleep(clock, LAST_WORDS_MS, signal) : undefined;
      await changed.wait(UNTOLD_MS, signal);
    }
  } finally {
    stop();
  }
}

async function isRunning(
  runtime: Pick<RuntimeService, "containerStatus">,
  containerId: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { status } = await runtime.containerStatus({ containerId, verbose: false }, { signal });
    return status?.state === ContainerState.CONTAINER_RUNNING;
  } catch (error) {
    if (isCriError(error, "not-found")) return false;
    throw error;
  }
}
