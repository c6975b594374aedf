import { setTimeout as delay } from "node:timers/promises";
import { throwIfAborted } from "../../base/abort.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import type { Daemon } from "./daemon.ts";

const POLL_MS = 25;
/**
 * What does not start ends, and that is noticed at once: this is only against a child that hangs. A small machine that is
 * busy with its own start needs more than a minute for each child.
 */
const START_LIMIT_MS = 300_000;

/** A child that was started, and how to find out that it is ready. */
interface ReadyWait {
  /** The child's name for messages, such as `the node agent`. */
  name: string;
  daemon: Pick<Daemon, "exited" | "readOwnLog">;
  logFile: string;
  /** Firing it gives up the wait. */
  signal: AbortSignal;
  /** Rejects while it is not ready, with the reason. */
  check(): Promise<void>;
  /** Returns what the wait ends with where no later check can resolve. Default: it goes on. */
  explainEnd?(error: unknown): Promise<Error | undefined>;
}

/**
 * Resolves when the check does. Rejects with a CodedError `exited`, with the log's end, or `start-timed-out` after
 * `START_LIMIT_MS`.
 */
export async function untilReady(wait: ReadyWait): Promise<void> {
  const { name, daemon, logFile, signal, check } = wait;
  const ended = daemon.exited.then(() => true);
  const deadline = performance.now() + START_LIMIT_MS;
  let reason = "";
  while (performance.now() < deadline) {
    try {
      return await check();
    } catch (error) {
      const end = await wait.explainEnd?.(error);
      if (end !== undefined) throw end;
      reason = messageOf(error);
    }
    throwIfAborted(signal);
    if (await Promise.race([ended, delay(POLL_MS, false)])) {
      throw new CodedError("exited", `${name} ended at once: ${await daemon.readOwnLog()} (${logFile})`);
    }
  }
  throw new CodedError("start-timed-out", `${name} is not ready (${reason}); see ${logFile}`);
}
