import { assert } from "../../base/assert.ts";
import type { HealthCheck } from "../ports/health-check.ts";
import type { Controller } from "./controller.ts";

/** What is done at the start, and what runs from then on: a health check each, which fails until it is done or runs. */
export interface StartHooks {
  /** Tells that a step has been done. Throws for one that was not named at the beginning. */
  done(step: string): void;
  /** Returns the same controller. The checks of these names fail before it runs, and once it has ended. */
  whileRunning(controller: Controller, ...names: readonly string[]): Controller;
  /** In the order in which their names were told. */
  checks(): readonly HealthCheck[];
}

/** Creates the checks of these steps; those of controllers join them. */
export function createStartHooks(steps: readonly string[]): StartHooks {
  const problems = new Map<string, string | undefined>(steps.map((step) => [step, "not finished"]));
  return {
    done(step) {
      assert(problems.has(step), `${step} is a step of the start`);
      problems.set(step, undefined);
    },
    whileRunning(controller, ...names) {
      const tell = (problem: string | undefined) => {
        for (const name of names) problems.set(name, problem);
      };
      tell("not started");
      const run = async (signal: AbortSignal) => {
        tell(undefined);
        try {
          await controller.run(signal);
        } finally {
          tell("has ended");
        }
      };
      return { run };
    },
    checks: () => [...problems.keys()].map((name) => ({ name, check: () => problems.get(name) })),
  };
}
