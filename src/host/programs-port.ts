/**
 * Programs of this machine, started by their arguments: no shell sees them. A program is stopped by killing it together
 * with everything that it has started. It is then waited for, a second at most, because a process that waits for a file
 * system which does not answer cannot be killed. The real adapter and the fake pass one contract suite
 * (`test/contract/host-programs.test.ts`).
 */
export interface Programs {
  /**
   * Runs a program to its end. When the signal fires the program is stopped, and the call rejects with `AbortedError`.
   */
  run(run: ProgramRun, signal?: AbortSignal): Promise<ProgramOutcome>;
  /**
   * Does the same as `run`, but everything that the program prints, on its standard error too, is handed to `write` as
   * it comes. The output is not bounded: the program waits until `write` has resolved. When `write` rejects, the
   * program is stopped and the call rejects in the same way.
   */
  stream(
    run: StreamedRun,
    write: (bytes: Buffer) => Promise<void>,
    signal: AbortSignal,
  ): Promise<StreamedProgramOutcome>;
}

/** One run of a program that is streamed. */
export interface StreamedRun {
  /** An absolute path, or a name that is looked for in the directories of the program's own `PATH`: ours and the system's. */
  readonly path: string;
  readonly args: readonly string[];
  /** Variables that are set for the program. They hide variables of this process with the same name. */
  readonly environment: Readonly<Record<string, string>>;
  /** False: the program sees only `PATH` and the variables in `environment`. Default: it also sees those of this process. */
  readonly inheritsEnvironment?: boolean;
  /** The text on the program's standard input, which the program need not read. Default: nothing. */
  readonly stdin?: string;
  /** The program is stopped when it takes longer. */
  readonly timeoutMs: number;
  /** Open files of this process that the program inherits, as descriptors 3, 4 and so on. */
  readonly descriptors?: readonly number[];
}

/** One run of a program. */
export interface ProgramRun extends StreamedRun {
  readonly output?: OutputLimits;
}

/** The bounds for the kept output of a program. */
export interface OutputLimits {
  /** The limit for the standard output. Default 1 MiB. */
  readonly maxBytes?: number;
  /**
   * The treatment of a program that prints more. `fail` stops it, which is a failure. `cut` throws the rest away and
   * lets the program go on. Default `fail`.
   */
  readonly atLimit?: "fail" | "cut";
  /**
   * The limit for the standard error, whose rest is always thrown away. Default 1 KiB, which is what a message can
   * carry.
   */
  readonly maxErrorBytes?: number;
}

/** How a run ended. `printed`: with exit code 0. `missing`: there is no such program. */
export type ProgramOutcome =
  | { readonly kind: "printed"; readonly stdout: Buffer }
  | { readonly kind: "missing" }
  | ProgramFailure;

/** How a streamed run ended. `ended`: with exit code 0. */
export type StreamedProgramOutcome = { readonly kind: "ended" } | Exclude<ProgramOutcome, { kind: "printed" }>;

/** A program that did not do its work. */
export interface ProgramFailure {
  readonly kind: "failed";
  readonly cause: "exit-code" | "signal" | "timed-out" | "too-much-output" | "not-started";
  /** The problem, for a message that begins with the program's name: `failed with exit code 3`. */
  readonly problem: string;
  /** Undefined unless the cause is `exit-code`. */
  readonly exitCode: number | undefined;
  /** Both are empty for a streamed run. White space at both ends of `stderr` is removed. */
  readonly stdout: Buffer;
  readonly stderr: string;
}
