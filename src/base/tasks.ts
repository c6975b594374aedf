import { childController, isAbort } from "./abort.ts";

/**
 * The background tasks of one owner. A task that rejects with anything but an abort is a crash: `onCrash` is called
 * once, and the owner goes down. `settled` resolves when all tasks have ended, so that none outlives its owner.
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

/**
 * Starts work that nobody waits for. Where it fails, `onFailure` ends what the work was for, such as one connection, so
 * that no failure ends the process. `onFailure` must not throw.
 */
export function runInBackground(work: () => Promise<unknown>, onFailure: (error: unknown) => void): void {
  (async () => await work())().catch(onFailure);
}

/**
 * Ends the process with the error and its stack. It is the `onFailure` of work that only a bug can make fail, and that
 * has nothing of its own that could be ended.
 */
export function crash(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/**
 * Runs `work`, which may spawn tasks of its own, until it ends, a task crashes or the signal fires. The signal that
 * `work` gets fires then as well. Returns when all tasks have ended. Rejects with the error that `work` or a task
 * threw, unless it is an abort.
 */
export async function runWithTasks(
  signal: AbortSignal,
  work: (tasks: Tasks, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { controller, release } = childController(signal);
  let crash: { readonly error: unknown } | undefined;
  const tasks = createTasks((_name, error) => {
    crash ??= { error };
    controller.abort();
  });
  try {
    await work(tasks, controller.signal);
  } catch (error) {
    if (!isAbort(error)) throw error;
  } finally {
    controller.abort();
    await tasks.settled();
    release();
  }
  if (crash !== undefined) throw crash.error;
}
