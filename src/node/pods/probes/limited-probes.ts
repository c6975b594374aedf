import { type Clock, SECOND } from "../../../base/clock.ts";
import { createSlots } from "./exec-slots.ts";
import type { ProbeAttempt, ProbedContainer } from "./probe-attempt.ts";
import { type ProbeRunnerDeps, runProbe } from "./run-probe.ts";

/**
 * The bound on commands in containers that begin side by side. Each command costs the runtime a process or two; more than
 * this at once only makes all of them late.
 */
const EXEC_SLOTS = { limit: 16, holdMs: 2 * SECOND };

/** Makes probes. A probe that runs a command waits for its turn; the others cost little and begin at once. */
export function createLimitedProbes(clock: Clock, runner: ProbeRunnerDeps) {
  const slots = createSlots(clock, EXEC_SLOTS);
  return async (target: ProbedContainer, signal: AbortSignal): Promise<ProbeAttempt> => {
    const run = async () => await runProbe(runner, target, signal);
    return target.probe.exec === undefined ? await run() : await slots(run, signal);
  };
}
