import type { Log } from "../../base/log.ts";

/** What the end of a process takes from it. */
interface EndingProcess {
  /** A timer that by itself does not keep the process. */
  setTimer(delayMs: number, fire: () => void): void;
  /** What keeps the process: names of its kinds, as Node.js has them. */
  activeResources(): readonly string[];
  /** Ends the process at once. */
  end(code: number): void;
}

/** All that was to be done is done: what still closes is given two seconds. */
const LOOK_MS = 500;
/** One look would be too soon for a process that got no processor meanwhile: it has to take first what has come. */
const LOOKS = 4;

/**
 * Called when everything has ended, and the process with it, unless a call of the machine is under way: a call to a file
 * server that is away holds one of the process's threads, nobody can end it, and Node.js waits for it. The process is then
 * ended nevertheless.
 */
export function limitEnding(code: number, log: Log, { setTimer, activeResources, end }: EndingProcess): void {
  const look = (left: number) => {
    if (left > 0) return setTimer(LOOK_MS, () => look(left - 1));
    const calls = [...new Set(activeResources())].join(", ");
    log.warn("Exiting while calls of the machine have no answer", { exitCode: code, calls });
    end(code);
  };
  look(LOOKS);
}
