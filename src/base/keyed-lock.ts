import { createLimiter, type Limiter } from "./limiter.ts";

/**
 * Tasks with the same key run one after another, in the order in which they came. Tasks with other keys are not
 * affected.
 */
export interface KeyedLock {
  /** Rejects with `AbortedError` if the signal fires before the task's turn. It does not stop a task that runs. */
  run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createKeyedLock(): KeyedLock {
  const lines = new Map<string, { readonly limiter: Limiter; tasks: number }>();
  return {
    async run(key, task, signal) {
      const line = lines.get(key) ?? { limiter: createLimiter(1), tasks: 0 };
      lines.set(key, line);
      line.tasks++;
      try {
        return await line.limiter.run(task, signal);
      } finally {
        if (--line.tasks === 0) lines.delete(key);
      }
    },
  };
}
