/** Keys to look at, each once however often it was added meanwhile, one after the other. */
export interface WorkQueue {
  add(key: string): void;
  /** Resolves when nothing runs any more; nothing will. */
  stop(): Promise<void>;
}

const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 30_000;

/** Calls `work` with each key that is added, and again, later and later, with one that it failed for. */
export function createWorkQueue(
  work: (key: string) => Promise<void>,
  onError: (key: string, error: unknown) => void,
): WorkQueue {
  const waiting = new Set<string>();
  const failures = new Map<string, number>();
  const retries = new Set<NodeJS.Timeout>();
  let running: Promise<void> | undefined;
  let isStopped = false;

  const retry = (key: string) => {
    const count = failures.get(key) ?? 0;
    failures.set(key, count + 1);
    const timer = setTimeout(
      () => {
        retries.delete(timer);
        add(key);
      },
      Math.min(FIRST_RETRY_MS * 2 ** count, LAST_RETRY_MS),
    );
    retries.add(timer);
  };
  const run = async () => {
    for (const key of waiting) {
      if (isStopped) break;
      waiting.delete(key);
      try {
        await work(key);
        failures.delete(key);
      } catch (error) {
        if (isStopped) break;
        onError(key, error);
        retry(key);
      }
    }
    running = undefined;
  };
  const add = (key: string) => {
    if (isStopped) return;
    waiting.add(key);
    running ??= run();
  };
  return {
    add,
    async stop() {
      isStopped = true;
      for (const timer of retries) clearTimeout(timer);
      await running;
    },
  };
}
