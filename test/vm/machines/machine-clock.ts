import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const LOOK_AGAIN_MS = 500;
const NS_PER_MS = 1_000_000;
/** What `/proc/PID/task/TID/schedstat` tells: nanoseconds on a processor, and those of waiting for one. */
const WAITED_FIELD = 1;

/** Milliseconds that a machine has had. Only the difference of two readings means something. */
export type MachineClock = () => number;

/** The time that passes for everybody. */
export const wallClock: MachineClock = () => performance.now();

/**
 * The clock of a machine that a process emulates: it stands while others have the processor that the emulation waits for. A
 * limit by this clock is the same on a machine that is busy with other things, where the emulation takes several times as
 * long. It is the time that passes for everybody where the kernel does not tell who waited.
 */
export function createMachineClock(pid: number, { proc = "/proc", now = wallClock } = {}): MachineClock {
  let waitedMs = 0;
  return () => {
    waitedMs = Math.max(waitedMs, readWaitedMs(join(proc, `${pid}`, "task")));
    return now() - waitedMs;
  };
}

/** How long the thread has waited that has done so longest: that of the emulated processor. 0 where the process has ended. */
function readWaitedMs(tasks: string): number {
  try {
    const waited = readdirSync(tasks).map((task) => {
      const fields = readFileSync(join(tasks, task, "schedstat"), "utf8").split(" ");
      return Number(fields[WAITED_FIELD]) / NS_PER_MS;
    });
    return Math.max(0, ...waited);
  } catch {
    return 0;
  }
}

/** Rejects with the message where the promise takes longer by the clock. */
export async function within<T>(
  clock: MachineClock,
  limitMs: number,
  promise: Promise<T>,
  message: string,
): Promise<T> {
  const begun = clock();
  const ended = new AbortController();
  const watch = async (): Promise<never> => {
    while (clock() - begun < limitMs)
      await delay(Math.min(limitMs, LOOK_AGAIN_MS), undefined, { signal: ended.signal });
    throw new Error(message);
  };
  const late = watch();
  try {
    return await Promise.race([promise, late]);
  } finally {
    ended.abort();
    late.catch(() => undefined);
  }
}
