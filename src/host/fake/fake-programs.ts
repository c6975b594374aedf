import { sleep, throwIfAborted, untilAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { OutputLimits, ProgramFailure, ProgramOutcome, Programs, StreamedRun } from "../programs-port.ts";

/** Programs that are functions. */
export interface FakePrograms extends Programs {
  /** Sets the program at this path from now on; `undefined` takes it away. */
  install(path: string, program: FakeProgram | undefined): void;
  /** Every run that was begun, oldest first. */
  readonly runs: readonly StreamedRun[];
}

/** How one run ends. */
export interface FakeEnd {
  /** Default 0. */
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** How long it takes. Default 0. */
  readonly takesMs?: number;
}

export type FakeProgram = (run: StreamedRun) => FakeEnd | Promise<FakeEnd>;

export function createFakePrograms(clock: Clock): FakePrograms {
  const installed = new Map<string, FakeProgram>();
  const runs: StreamedRun[] = [];

  const end = async (run: StreamedRun, signal: AbortSignal = NEVER): Promise<ProgramOutcome> => {
    const program = installed.get(run.path);
    if (program === undefined) return { kind: "missing" };
    runs.push(run);
    const { exitCode = 0, stdout = "", stderr = "", takesMs = 0 } = await untilAborted(begin(program, run), signal);
    if (takesMs > 0) await sleep(clock, Math.min(takesMs, run.timeoutMs), signal);
    const printed = { stdout: Buffer.from(stdout), stderr };
    if (takesMs >= run.timeoutMs) {
      return failure("timed-out", `did not end within ${run.timeoutMs} ms`, printed);
    }
    if (exitCode !== 0) return { ...failure("exit-code", `failed with exit code ${exitCode}`, printed), exitCode };
    return { kind: "printed", stdout: printed.stdout };
  };

  return {
    runs,
    install(path, program) {
      if (program === undefined) installed.delete(path);
      else installed.set(path, program);
    },
    async run(run, signal) {
      throwIfAborted(signal);
      return withinBounds(await end(run, signal), run.output);
    },
    async stream(run, write, signal) {
      throwIfAborted(signal);
      const outcome = await end(run, signal);
      if (outcome.kind === "failed") return { ...outcome, stdout: Buffer.alloc(0), stderr: "" };
      if (outcome.kind === "missing") return outcome;
      if (outcome.stdout.length > 0) await write(outcome.stdout);
      return { kind: "ended" };
    },
  };
}

const NEVER = new AbortController().signal;
const MAX_STDOUT_BYTES = 1024 * 1024;

function failure(
  cause: ProgramFailure["cause"],
  problem: string,
  printed: Pick<ProgramFailure, "stdout" | "stderr">,
): ProgramFailure {
  return { kind: "failed", cause, problem, exitCode: undefined, ...printed };
}

function withinBounds(
  outcome: ProgramOutcome,
  { maxBytes = MAX_STDOUT_BYTES, atLimit = "fail" }: OutputLimits = {},
): ProgramOutcome {
  if (outcome.kind !== "printed" || outcome.stdout.length <= maxBytes) return outcome;
  const stdout = outcome.stdout.subarray(0, maxBytes);
  if (atLimit === "cut") return { kind: "printed", stdout };
  return failure("too-much-output", `printed more than ${maxBytes} bytes`, { stdout, stderr: "" });
}

async function begin(program: FakeProgram, run: StreamedRun): Promise<FakeEnd> {
  return await program(run);
}
