import type { ProgramOutcome, Programs } from "../../programs-port.ts";

/** Callers of the bus wait this long by default. */
export const BUS_TIMEOUT_MS = 25_000;

/**
 * Makes one call of the system's bus with systemd's own `busctl`, which prints the answer as JSON. The `--` keeps the
 * name of a unit, which may be `-.slice`, from being taken for an option.
 */
export async function runBusctl(
  programs: Pick<Programs, "run">,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<ProgramOutcome> {
  const all = ["--system", "--json=short", "--", ...args];
  return await programs.run({ path: "busctl", args: all, environment: {}, timeoutMs: BUS_TIMEOUT_MS }, signal);
}

/** The message of a call that failed. */
export function describeBusFailure(outcome: Exclude<ProgramOutcome, { kind: "printed" }>): string {
  if (outcome.kind === "missing") return "busctl, a program of systemd, is not installed";
  return `busctl ${outcome.problem}${outcome.stderr === "" ? "" : `: ${outcome.stderr}`}`;
}

/** The value of a property that `busctl get-property` printed. */
export function parseBusProperty(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "data" in parsed ? parsed.data : undefined;
}
