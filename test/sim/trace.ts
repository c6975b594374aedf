import { createHash } from "node:crypto";
import type { Clock } from "../../src/base/clock.ts";

/** What happened in one run, in order. Two runs of one seed give the same trace, which the hash proves. */
export interface Trace {
  note(text: string): void;
  /** The newest lines, oldest first. */
  readonly recent: readonly string[];
  /** Over every line since the start. */
  hash(): string;
}

const KEPT = 40;

/** `onLine`: called with each line, for a person who watches. */
export function createTrace(clock: Clock, onLine: ((line: string) => void) | undefined): Trace {
  const hash = createHash("sha256");
  const recent: string[] = [];
  return {
    recent,
    note(text) {
      const line = `${(clock.monotonic() / 1000).toFixed(3).padStart(9)}  ${text}`;
      hash.update(line);
      recent.push(line);
      if (recent.length > KEPT) recent.shift();
      onLine?.(line);
    },
    hash: () => hash.copy().digest("hex").slice(0, 16),
  };
}

/** Enough of an id to tell it from others. */
export function short(id: string): string {
  return id.slice(0, 6);
}
