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
  /** Leaves the process as it was found. */
  release(): void;
}

/** 128 and the signal's number, as shells report it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The first SIGTERM or SIGINT asks for an orderly end, the second ends the process at once. An error that nobody handled
 * is a bug: it is logged with its stack and ends the process, since nothing is known to be right after it. `exit`: how,
 * where it is not by `process.exit`.
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
  // Whoever reads the log may go away; the node agent must not go with it.
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
