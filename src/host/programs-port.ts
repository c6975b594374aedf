import type { ProgramOutcome } from "../base/run-program.ts";

/** Programs of this machine. They are started by their arguments; no shell sees them. */
export interface Programs {
  /**
   * Runs one to its end. Past its time it is killed with everything that it started. What it prints is bounded: 1 MiB, and
   * of its standard error what a message may carry. Rejects with AbortedError when the signal fires, and is gone then too.
   */
  run(run: ProgramRun, signal: AbortSignal): Promise<ProgramOutcome>;
  /**
   * As `run`, with all that it prints, errors among it, handed to `write` as it comes, however much that is: the program
   * waits for who reads. Rejects as `write` does, and the program is gone then.
   */
  stream(
    run: ProgramRun,
    write: (bytes: Buffer) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Exclude<ProgramOutcome, { kind: "printed" }> | { readonly kind: "ended" }>;
}

/** One run of a program. */
export interface ProgramRun {
  /** Absolute. */
  readonly path: string;
  readonly args: readonly string[];
  /** Beside this process's own environment, and before it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
}
