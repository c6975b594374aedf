import { readFileSync } from "node:fs";

/**
 * Milliseconds that the calling thread has had of a processor. Other programs and this one's threads for
 * garbage and compilation do not count, so that a busy machine stalls nobody.
 */
export function readThreadMs(): number {
  const [nanoseconds = "0"] = readFileSync("/proc/thread-self/schedstat", "latin1").split(" ", 1);
  return Number(nanoseconds) / 1e6;
}
