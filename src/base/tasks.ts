import { isAbort } from "./abort.ts";

/**
 * The background tasks of one owner. A task that rejects with anything but an abort is a crash: `onCrash` is told once
 * and the owner goes down. `settled` resolves when all have ended, so that nothing outlives its owner.
 */
export interface Tasks {
  /** Starts a task; its name appears in the crash. */
  spawn(name: string, task: () => Promise<void>): void;
  /** Resolves when no task runs any more. */
  settled(): Promise<void>;
  readonly running: number;
}

export function createTasks(onCrash: (name: string, error: unknown) => void): Tasks {
  const running = new Set<Promise<void>>();
  return {
    spawn(name, task) {
      const run = (async () => await task())()
        .catch((error: unknown) => {
          if (!isAbort(error)) onCrash(name, error);
        })
        .finally(() => running.delete(run));
      running.add(run);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
    get running() {
      return running.size;
    },
  };
}
