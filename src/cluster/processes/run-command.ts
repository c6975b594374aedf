import { execFile } from "node:child_process";
import { CodedError } from "../../base/errors.ts";

/** `not-found`: no such program; `failed`: it ran and ended with an error; `timed-out`: it was killed for its time. */
type CommandErrorCode = "not-found" | "failed" | "timed-out";

interface CommandOptions {
  /** The program is killed after this. Default 30 s. */
  timeoutMs?: number;
  /** Replaces the environment of this process. */
  environment?: NodeJS.ProcessEnv;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Runs a program by its arguments, never through a shell, and returns what it wrote to its standard output.
 * Rejects with a CodedError whose message ends in what the program said on its standard error.
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const environment = options.environment === undefined ? {} : { env: options.environment };
  return await new Promise<string>((resolve, reject) => {
    const settings = {
      timeout: timeoutMs,
      killSignal: "SIGKILL" as const,
      maxBuffer: MAX_OUTPUT_BYTES,
      ...environment,
    };
    execFile(program, [...args], settings, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const said = (stderr.trim() || stdout.trim() || error.message).slice(-MAX_REASON_CHARACTERS);
      if (error.code === "ENOENT")
        reject(new CodedError<CommandErrorCode>("not-found", `${program} is not installed`, { cause: error }));
      else if (error.killed)
        reject(new CodedError<CommandErrorCode>("timed-out", `${program} took longer than ${timeoutMs} ms: ${said}`));
      else
        reject(new CodedError<CommandErrorCode>("failed", `${program} ${args.join(" ")}: ${said}`, { cause: error }));
    });
  });
}
