import { assert, assertNever } from "../../base/assert.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { crash, runInBackground } from "../../base/tasks.ts";
import type { Step } from "./fake-shell.ts";

/** A process that runs on the given clock. */
export interface FakeProcess {
  /**
   * TERM runs the trap; without one it ends the process with 143, but not the first process of a PID namespace, which
   * has no default action. KILL ends it at once with 137.
   */
  signal(name: "TERM" | "KILL"): void;
  /** Ends the process at once with this code, for a test that asks for it. */
  end(exitCode: number): void;
}

interface FakeProcessOptions {
  steps: readonly Step[];
  /** True for the first process of a PID namespace. */
  isInit: boolean;
  clock: Clock;
  /**
   * Receives what the process prints; it goes to standard output where there is no path. The process waits for the
   * promise.
   */
  onPrint(text: string, path: string | undefined): Promise<void> | void;
  /** Called once, never before `runFakeProcess` has returned. */
  onExit(exitCode: number): void;
}

const KILLED = 137;
const TERMINATED = 143;
/** The limit of setTimeout itself; it is longer than any test. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/** Starts the process; its first step runs after the caller has gone on. */
export function runFakeProcess(options: FakeProcessOptions): FakeProcess {
  const process: ProcessState = { ended: false, terminated: false, status: 0, trap: undefined, sleep: undefined };
  const end = (exitCode: number) => {
    if (process.ended) return;
    process.ended = true;
    process.sleep?.timer.cancel();
    options.onExit(exitCode);
  };
  runInBackground(async () => {
    await Promise.resolve();
    end((await runSteps(process, options.steps, options)) ?? process.status);
  }, crash);
  return {
    signal(name) {
      if (name === "KILL") return end(KILLED);
      if (process.trap === undefined && !options.isInit) return end(TERMINATED);
      process.terminated = true;
      process.sleep?.interrupt?.();
    },
    end,
  };
}

interface ProcessState {
  ended: boolean;
  terminated: boolean;
  /** The status of the step that ran last. */
  status: number;
  trap: readonly Step[] | undefined;
  sleep: { timer: Timer; interrupt: (() => void) | undefined } | undefined;
}

type Surroundings = Pick<FakeProcessOptions, "clock" | "onPrint">;

/**
 * Returns the exit code where a step says `exit`; undefined where the steps ran out or the process was ended meanwhile.
 */
async function runSteps(
  process: ProcessState,
  steps: readonly Step[],
  around: Surroundings,
): Promise<number | undefined> {
  for (const step of steps) {
    if (process.ended) return undefined;
    if (step.when && (step.when === "success") !== (process.status === 0)) continue;
    const code = (await runStep(process, step, around)) ?? (await runTrap(process, around));
    if (code !== undefined) return code;
  }
  return undefined;
}

async function runTrap(process: ProcessState, around: Surroundings): Promise<number | undefined> {
  if (!process.terminated || process.trap === undefined) return undefined;
  const steps = process.trap;
  process.trap = undefined;
  return await runSteps(process, steps, around);
}

async function runStep(process: ProcessState, step: Step, around: Surroundings): Promise<number | undefined> {
  switch (step.do) {
    case "exit":
      return step.code ?? process.status;
    case "status":
      process.status = step.code;
      return undefined;
    case "sleep":
      await sleepStep(process, step, around);
      process.status = 0;
      return undefined;
    case "print":
      await around.onPrint(step.text, step.path);
      process.status = 0;
      return undefined;
    case "trap":
      process.trap = step.steps;
      return undefined;
    case "loop":
      return await loop(process, step.steps, around);
    default:
      return assertNever(step, "step");
  }
}

async function sleepStep(
  process: ProcessState,
  step: { ms: number; interruptible: boolean },
  { clock }: Surroundings,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.setTimer(Math.min(step.ms, LONGEST_SLEEP_MS), resolve);
    process.sleep = { timer, interrupt: step.interruptible ? resolve : undefined };
  });
  process.sleep?.timer.cancel();
  process.sleep = undefined;
}

async function loop(process: ProcessState, steps: readonly Step[], around: Surroundings): Promise<number | undefined> {
  const sleeps = steps.some((step) => step.do === "sleep" && step.ms > 0);
  assert(sleeps, "a fake process that loops without sleeping would stop the clock");
  while (!process.ended) {
    const code = await runSteps(process, steps, around);
    if (code !== undefined) return code;
  }
  return undefined;
}
