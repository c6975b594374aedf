import { AbortedError, sleep, untilAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { ProgramOutcome } from "../../base/run-program.ts";
import type { ProgramRun, Programs } from "../programs-port.ts";

/** Programs that are functions. */
export interface FakePrograms extends Programs {
  /** What runs at this path from now on; `undefined` takes it away. */
  install(path: string, program: FakeProgram | undefined): void;
  /** Every run that was begun, oldest first. */
  readonly runs: readonly ProgramRun[];
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

export type FakeProgram = (run: ProgramRun) => FakeEnd | Promise<FakeEnd>;

export function createFakePrograms(clock: Clock): FakePrograms {
  const installed = new Map<string, FakeProgram>();
  const runs: ProgramRun[] = [];

  const end = async (run: ProgramRun, signal: AbortSignal): Promise<ProgramOutcome> => {
    const program = installed.get(run.path);
    if (program === undefined) return { kind: "missing" };
    runs.push(run);
    const { exitCode = 0, stdout = "", stderr = "", takesMs = 0 } = await untilAborted(begin(program, run), signal);
    if (takesMs > 0) await sleep(clock, Math.min(takesMs, run.timeoutMs), signal);
    if (takesMs >= run.timeoutMs) {
      return { kind: "failed", problem: `did not end within ${run.timeoutMs} ms`, stderr };
    }
    if (exitCode !== 0) return { kind: "failed", problem: `failed with exit code ${exitCode}`, stderr };
    return { kind: "printed", stdout: Buffer.from(stdout) };
  };

  return {
    runs,
    install(path, program) {
      if (program === undefined) installed.delete(path);
      else installed.set(path, program);
    },
    async run(run, signal) {
      if (signal.aborted) throw new AbortedError();
      return await end(run, signal);
    },
    async stream(run, write, signal) {
      if (signal.aborted) throw new AbortedError();
      const outcome = await end(run, signal);
      if (outcome.kind !== "printed") return outcome;
      if (outcome.stdout.length > 0) await write(outcome.stdout);
      return { kind: "ended" };
    },
  };
}

async function begin(program: FakeProgram, run: ProgramRun): Promise<FakeEnd> {
  return await program(run);
}
