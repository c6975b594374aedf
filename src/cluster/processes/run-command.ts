import { CodedError } from "../../base/errors.ts";
import { linuxPrograms } from "../../host/linux/system/linux-programs.ts";

/**
 * `not-found`: there is no such program; `failed`: it ran and ended with an error; `timed-out`: it was killed because
 * it took too long.
 */
type CommandErrorCode = "not-found" | "failed" | "timed-out";

interface CommandOptions {
  /** The program is killed after this. Default 30 s. */
  timeoutMs?: number;
  /** Variables beside those of this process. Default: none. */
  environment?: Readonly<Record<string, string>>;
  /** What is on its standard input. Default: nothing. */
  stdin?: string;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Runs a program by its arguments, never through a shell, and returns its standard output. Rejects with a CodedError
 * whose message ends with the program's standard error.
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  { timeoutMs = DEFAULT_TIMEOUT_MS, environment = {}, stdin }: CommandOptions = {},
): Promise<string> {
  const output = { maxBytes: MAX_OUTPUT_BYTES, maxErrorBytes: MAX_ERROR_BYTES };
  const outcome = await linuxPrograms.run({
    path: program,
    args,
    environment,
    timeoutMs,
    output,
    ...(stdin !== undefined && { stdin }),
  });
  switch (outcome.kind) {
    case "printed":
      return outcome.stdout.toString("utf8");
    case "missing":
      throw new CodedError<CommandErrorCode>("not-found", `${program} is not installed`);
    case "failed": {
      const { cause, stdout, stderr, problem } = outcome;
      const said = (stderr || stdout.toString("utf8").trim() || problem).slice(-MAX_REASON_CHARACTERS);
      if (cause === "timed-out") {
        throw new CodedError<CommandErrorCode>("timed-out", `${program} took longer than ${timeoutMs} ms: ${said}`);
      }
      throw new CodedError<CommandErrorCode>("failed", `${program} ${args.join(" ")}: ${said}`);
    }
  }
}
