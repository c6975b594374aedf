import { readThreadMs } from "./thread-time.ts";

/** Watches how long the turns of the event loop take. */
interface TurnWatch {
  /** From here on; with `exactly` in time of the processor, which costs a system call a turn. */
  begin(exactly: boolean): void;
  /** The longest turn since, in milliseconds, that of the caller included. */
  longestMs(): number;
  stop(): void;
}

const TICK_MS = 5;

/** A turn is what happens between two ticks of a short timer: work that nobody interrupts delays the next tick. */
export function watchTurns(): TurnWatch {
  let isExact = false;
  let last = 0;
  let longest = 0;
  const now = () => (isExact ? readThreadMs() : performance.now());
  const look = () => {
    const at = now();
    longest = Math.max(longest, at - last);
    last = at;
  };
  const timer = setInterval(look, TICK_MS);
  timer.unref();
  return {
    begin(exactly) {
      isExact = exactly;
      longest = 0;
      last = now();
    },
    longestMs() {
      look();
      return longest;
    },
    stop: () => clearInterval(timer),
  };
}
