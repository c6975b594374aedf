import { type ProgramOutcome, runProgram } from "../../../base/run-program.ts";
import { systemClock } from "./system-clock.ts";

/** As long as callers of the bus wait by default. */
export const BUS_TIMEOUT_MS = 25_000;

/**
 * One call of the system's bus by systemd's own `busctl`, which prints the answer as JSON. What follows is never taken for
 * an option: `-.slice` is the name of a unit.
 */
export async function runBusctl(args: readonly string[], signal: AbortSignal): Promise<ProgramOutcome> {
  const all = ["--system", "--json=short", "--", ...args];
  const program = { command: "busctl", args: all, environment: process.env };
  return await runProgram(program, { clock: systemClock, timeoutMs: BUS_TIMEOUT_MS, signal });
}

/** What a call says went wrong. */
export function describeBusFailure(outcome: Exclude<ProgramOutcome, { kind: "printed" }>): string {
  if (outcome.kind === "missing") return "busctl, a program of systemd, is not installed";
  return `busctl ${outcome.problem}${outcome.stderr === "" ? "" : `: ${outcome.stderr}`}`;
}

/** The value of a property that `busctl get-property` printed. */
export function parseBusProperty(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "data" in parsed ? parsed.data : undefined;
}
