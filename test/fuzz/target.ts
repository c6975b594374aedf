/**
 * One thing that reads what strangers write. The suite calls it with corpus and mutated inputs, in a process of its own,
 * so that a crash, an endless loop and a lack of memory are findings, too.
 */
export interface Target {
  readonly name: string;
  /** How many fresh inputs `--fixed` gives it: about as many as it takes within two seconds. */
  readonly runs: number;
  /** Whole inputs from which mutation starts, besides the files of the corpus. */
  readonly seeds: readonly (string | Buffer)[];
  /** Words that mutation inserts as they are: keys, delimiters, magic bytes, numbers at the edge. */
  readonly words?: readonly (string | Buffer)[];
  /** The longest input. Default: 64 KiB. */
  readonly maxBytes?: number;
  /** How many inputs run between two looks at the coverage. Default: 64; fewer where each takes milliseconds. */
  readonly batch?: number;
  /** Makes what the inputs are given to. */
  setUp(): Promise<RunningTarget>;
}

/** A target that is ready to take inputs. */
export interface RunningTarget {
  /**
   * Takes one input. Whatever it throws is a finding, so that an expected refusal must be caught here. A promise is
   * waited for; one that does not settle is a finding as well.
   */
  run(input: Buffer): void | Promise<void>;
  /** Brings everything to rest before memory is measured: connections that close, objects that go. */
  settle?(): Promise<void>;
  close?(): Promise<void>;
}

export const DEFAULT_MAX_BYTES = 64 * 1024;
export const DEFAULT_BATCH = 64;

/** What a run may not do. `crash`: it threw, or the process ended. `broken`: a promise of the target does not hold. */
export type FindingKind = "crash" | "stall" | "hang" | "memory" | "broken";

/** A promise that does not hold for this input: what was encoded reads as something else, another client waits. */
export class BrokenPromise extends Error {}

/** Throws a `BrokenPromise` unless the condition holds. */
export function promise(condition: boolean, message: string): void {
  if (!condition) throw new BrokenPromise(message);
}
