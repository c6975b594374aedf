/** What signals ask for. Undefined: a hang-up stops, as that of a terminal that was closed. */
interface SignalHandlers {
  onStop(): void;
  onHangUp: (() => void) | undefined;
}

/**
 * Stops on signals. The first signal asks to stop, the second ends this process at once; the next supervisor then finds
 * its children again.
 */
export function stopOnSignals({ onStop, onHangUp }: SignalHandlers): { signal: AbortSignal } {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (name === "SIGHUP" && onHangUp !== undefined) return onHangUp();
      if (controller.signal.aborted) process.exit(130);
      onStop();
      controller.abort();
    });
  }
  return { signal: controller.signal };
}
