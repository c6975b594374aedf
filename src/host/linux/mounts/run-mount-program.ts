import { CodedError } from "../../../base/errors.ts";
import type { Programs } from "../../programs-port.ts";

/** How a program ended. */
export interface ProgramEnd {
  /** Its exit code; undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of the system's programs for mounts, file systems and disks. */
export type RunMountProgram = (name: string, args: readonly string[], options: RunOptions) => Promise<ProgramEnd>;

interface RunOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Descriptors that the program inherits, as 3 and so on. */
  readonly descriptors?: readonly number[];
}

/** The limit for the output, and for the errors; the rest is thrown away. */
const MAX_OUTPUT_BYTES = 64 * 1024;

/**
 * Programs run in the C locale, and see none of this process's variables but `PATH`. Rejects with `ETIMEDOUT`, with
 * `ENOENT` for a program that is not there, with `EIO` for one that cannot be started, and with AbortedError.
 */
export function createMountPrograms(programs: Pick<Programs, "run">): RunMountProgram {
  return async (name, args, { timeoutMs, signal, descriptors = [] }) => {
    const environment = { LC_ALL: "C" };
    const output = { maxBytes: MAX_OUTPUT_BYTES, atLimit: "cut", maxErrorBytes: MAX_OUTPUT_BYTES } as const;
    const run = { path: name, args, environment, inheritsEnvironment: false, timeoutMs, descriptors, output };
    const outcome = await programs.run(run, signal);
    if (outcome.kind === "missing") throw new CodedError("ENOENT", `ENOENT: ${name} is not installed`);
    if (outcome.kind === "printed") return { code: 0, stdout: textOf(outcome.stdout), stderr: "" };
    const { cause, problem, exitCode, stdout, stderr } = outcome;
    if (cause === "timed-out") throw new CodedError("ETIMEDOUT", `ETIMEDOUT: ${name} ${problem}`);
    if (cause === "not-started") throw new CodedError("EIO", `EIO: ${name} cannot be started: ${problem}`);
    return { code: exitCode, stdout: textOf(stdout), stderr };
  };
}

const textOf = (bytes: Buffer) => bytes.toString("utf8").trim();
