import { assert, assertNever } from "../../base/assert.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Step } from "./fake-shell.ts";

/** A process that runs on the clock it was given. */
export interface FakeProcess {
  /**
   * TERM runs the trap; without one it ends the process with 143, but not the first process of a PID namespace, which
   * has no default action. KILL ends it at once with 137.
   */
  signal(name: "TERM" | "KILL"): void;
  /** Ends it at once with this code, for a test that says so. */
  end(exitCode: number): void;
}

export interface FakeProcessOptions {
  steps: readonly Step[];
  /** The first process of a PID namespace. */
  isInit: boolean;
  clock: Clock;
  /** To standard output where there is no path; the process waits for it. */
  onPrint(text: string, path: string | undefined): Promise<void> | void;
  /** Called once, never before `runFakeProcess` has returned. */
  onExit(exitCode: number): void;
}

const KILLED = 137;
const TERMINATED = 143;
/** setTimeout's own limit, and longer than any test. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

export function runFakeProcess(options: FakeProcessOptions): FakeProcess {
  let ended = false;
  let terminated = false;
  let status = 0;
  let trap: readonly Step[] | undefined;
  let wake: (() => void) | undefined;
  let timer: Timer | undefined;

  const end = (exitCode: number) => {
    if (ended) return;
    ended = true;
    timer?.cancel();
    options.onExit(exitCode);
  };

  const sleep = async (step: { ms: number; interruptible: boolean }) => {
    await new Promise<void>((resolve) => {
      timer = options.clock.setTimer(Math.min(step.ms, LONGEST_SLEEP_MS), resolve);
      wake = step.interruptible ? resolve : undefined;
    });
    timer?.cancel();
    wake = undefined;
  };

  /** The exit code where a step says `exit`; undefined where the steps ran out. */
  const run = async (steps: readonly Step[]): Promise<number | undefined> => {
    for (const step of steps) {
      if (ended) return undefined;
      if (step.when && (step.when === "success") !== (status === 0)) continue;
      const code = await perform(step);
      if (code !== undefined) return code;
      if (terminated && trap) {
        const body = trap;
        trap = undefined;
        const trapped = await run(body);
        if (trapped !== undefined) return trapped;
      }
    }
    return undefined;
  };

  const perform = async (step: Step): Promise<number | undefined> => {
    switch (step.do) {
      case "exit":
        return step.code ?? status;
      case "status":
        status = step.code;
        return undefined;
      case "sleep":
        await sleep(step);
        status = 0;
        return undefined;
      case "print":
        await options.onPrint(step.text, step.path);
        status = 0;
        return undefined;
      case "trap":
        trap = step.steps;
        return undefined;
      case "loop":
        return await loop(step.steps);
      default:
        return assertNever(step, "step");
    }
  };

  const loop = async (steps: readonly Step[]): Promise<number | undefined> => {
    assert(
      steps.some((step) => step.do === "sleep" && step.ms > 0),
      "a fake process that loops without sleeping would stop the clock",
    );
    for (;;) {
      const code = await run(steps);
      if (code !== undefined || ended) return code;
    }
  };

  void Promise.resolve()
    .then(async () => await run(options.steps))
    .then((code) => end(code ?? status));

  return {
    signal(name) {
      if (name === "KILL") return end(KILLED);
      if (!trap && !options.isInit) return end(TERMINATED);
      terminated = true;
      wake?.();
    },
    end,
  };
}
