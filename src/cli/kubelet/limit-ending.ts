import type { Log } from "../../base/log.ts";

/** The parts of a process that its end needs. */
interface EndingProcess {
  /** Sets a timer that does not keep the process alive. */
  setTimer(delayMs: number, fire: () => void): void;
  /** Lists the kinds of resources that keep the process alive, by their names in Node.js. */
  activeResources(): readonly string[];
  /** Ends the process at once. */
  end(code: number): void;
}

/** All work is done by now, and whatever still closes gets two seconds: four looks of this length. */
const LOOK_MS = 500;
/**
 * One look would be too early for a process that got no CPU time meanwhile, because it must first handle the events
 * that have arrived.
 */
const LOOKS = 4;

/**
 * Is called when all work has ended. The process then ends too, unless a call of the machine is under way: a call to an
 * unreachable file server holds one of the process's threads, cannot be ended, and Node.js waits for it. This function
 * ends the process all the same.
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
