import type { EventEmitter } from "node:events";
import type { Log } from "../../base/log.ts";

/** The part of `process` that is watched. */
interface WatchedProcess extends Pick<EventEmitter, "on" | "off"> {
  readonly stderr: Pick<EventEmitter, "on" | "off">;
  exit(code: number): void;
}

interface ProcessWatch {
  /** Fires at the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Removes the listeners, which leaves the process as it was before. */
  release(): void;
}

/** The codes are 128 plus the signal's number, as shells report it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Watches the process. The first SIGTERM or SIGINT asks for an orderly end, the second ends the process at once. An
 * unhandled error is a bug: it is logged with its stack and ends the process, since the state after it cannot be
 * trusted. `exit` ends the process; by default it is `process.exit`.
 */
export function watchProcess(
  watched: WatchedProcess,
  log: Log,
  exit: (code: number) => void = (code) => watched.exit(code),
): ProcessWatch {
  const controller = new AbortController();
  const stop = (name: keyof typeof EXIT_CODES) => {
    if (controller.signal.aborted) {
      log.warn("Second signal, exiting at once", { signal: name });
      exit(EXIT_CODES[name]);
      return;
    }
    log.info("Stopping, pods keep running; a second signal ends this at once", { signal: name });
    controller.abort();
  };
  const crash = (error: unknown) => {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error("Crash: an error that nothing handled, please report it", { error, stack });
    exit(1);
  };
  const listeners = [
    ["SIGTERM", () => stop("SIGTERM")],
    ["SIGINT", () => stop("SIGINT")],
    ["unhandledRejection", crash],
    ["uncaughtException", crash],
  ] as const;
  // The reader of the log may go away, and the node agent must not end with it.
  const ignore = () => undefined;
  watched.stderr.on("error", ignore);
  for (const [event, listener] of listeners) watched.on(event, listener);
  return {
    signal: controller.signal,
    release() {
      watched.stderr.off("error", ignore);
      for (const [event, listener] of listeners) watched.off(event, listener);
    },
  };
}
