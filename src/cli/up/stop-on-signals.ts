import { runInBackground } from "../../base/tasks.ts";

/** What signals ask for. */
interface SignalHandlers {
  /** The first asks to stop. */
  onStop(): void;
  /** The second asks to end all that runs beside the pods now. */
  endNow(): Promise<void>;
  /** Undefined: a hang-up stops, as that of a terminal that was closed. */
  onHangUp: (() => void) | undefined;
}

/** As shells tell of a program that an interrupt has ended. */
const INTERRUPTED = 130;

/**
 * Stops on signals. The first signal asks to stop, the second ends this process as soon as its children have ended, and the
 * third at once; the next supervisor then finds them again.
 */
export function stopOnSignals({ onStop, endNow, onHangUp }: SignalHandlers): { signal: AbortSignal } {
  const controller = new AbortController();
  let isEnding = false;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (name === "SIGHUP" && onHangUp !== undefined) return onHangUp();
      if (isEnding) process.exit(INTERRUPTED);
      if (controller.signal.aborted) {
        isEnding = true;
        const exit = () => process.exit(INTERRUPTED);
        return runInBackground(async () => await endNow().then(exit), exit);
      }
      onStop();
      controller.abort();
    });
  }
  return { signal: controller.signal };
}
