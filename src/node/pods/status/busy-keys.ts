import { isAbort, untilAborted } from "../../../base/abort.ts";

/** Which keys somebody works on, at most one for each. */
interface BusyKeys {
  /** False where somebody does already. */
  begin(key: string): boolean;
  end(key: string): void;
  /** Resolves when there is work on none, or the signal fires. */
  untilIdle(signal: AbortSignal): Promise<void>;
}

/** None is worked on. */
export function createBusyKeys(): BusyKeys {
  const busy = new Set<string>();
  const listeners = new Set<() => void>();

  return {
    begin(key) {
      if (busy.has(key)) return false;
      busy.add(key);
      return true;
    },
    end(key) {
      busy.delete(key);
      if (busy.size === 0) for (const listener of [...listeners]) listener();
    },
    async untilIdle(signal) {
      if (busy.size === 0) return;
      let listener: () => void = () => undefined;
      const idle = new Promise<void>((resolve) => {
        listener = resolve;
      });
      listeners.add(listener);
      try {
        await untilAborted(idle, signal);
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        listeners.delete(listener);
      }
    },
  };
}
