import { type ChildProcess, spawn } from "node:child_process";
import { AbortedError } from "./abort.ts";
import type { Clock, Timer } from "./clock.ts";
import { codeOf, messageOf } from "./errors.ts";

/** A program to run, by its arguments and without a shell. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** What the program reads from its standard input; without it there is nothing to read. */
  readonly stdin?: string | undefined;
}

/** How a program ended. `missing`: there is no such program; `failed`: what became of it, for a message. */
export type ProgramOutcome =
  | { readonly kind: "printed"; readonly stdout: Buffer }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly problem: string; readonly stderr: string };

/** Credentials are a few kilobytes. */
const MAX_STDOUT_BYTES = 1024 * 1024;
/** As much as a message may carry; the rest is thrown away. */
const MAX_STDERR_BYTES = 1024;

/** Runs a program to its end, for `timeoutMs` at most; then it is killed with everything that it started. */
export async function runProgram(
  program: Program,
  { clock, timeoutMs, signal }: { clock: Clock; timeoutMs: number; signal: AbortSignal },
): Promise<ProgramOutcome> {
  if (signal.aborted) throw new AbortedError();
  const child = spawn(program.command, program.args, {
    env: program.environment,
    stdio: [program.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // A process group of its own, so that no child of a script goes on without it.
    detached: true,
  });
  // A program that ends, or closes its input, without having read all of it has not failed by that.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(program.stdin);
  let stopped: string | undefined;
  const stop = (problem: string) => {
    stopped ??= problem;
    killGroup(child);
  };
  const stdout = collect(child, "stdout", () => stop(`printed more than ${MAX_STDOUT_BYTES} bytes`));
  const stderr = collect(child, "stderr");
  const timer = clock.setTimer(timeoutMs, () => stop(`did not end within ${timeoutMs} ms`));
  const onAbort = () => stop("was stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const ended = await untilClosed(child, clock);
    if (signal.aborted) throw new AbortedError();
    if (ended === "missing") return { kind: "missing" };
    const problem = stopped ?? ended;
    if (problem === undefined) return { kind: "printed", stdout: stdout() };
    return { kind: "failed", problem, stderr: stderr().toString("utf8").trim() };
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

/** From the end of a program to the end of its pipes, which is at once unless others hold them. */
const PIPE_GRACE_MS = 1_000;

/** What is wrong with how it ended, undefined for nothing; `missing` when it could not begin. */
async function untilClosed(child: ChildProcess, clock: Clock): Promise<string | undefined> {
  return await new Promise((resolve) => {
    let grace: Timer | undefined;
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(codeOf(error) === "ENOENT" ? "missing" : messageOf(error));
    });
    child.once("exit", () => {
      // Whom it started may hold the pipes open; the program itself is what is waited for.
      grace = clock.setTimer(PIPE_GRACE_MS, () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.once("close", (code, signal) => {
      grace?.cancel();
      if (code === 0) resolve(undefined);
      else resolve(code === null ? `was killed by ${signal}` : `failed with exit code ${code}`);
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}

function collect(child: ChildProcess, name: "stdout" | "stderr", onTooMuch?: () => void): () => Buffer {
  const limit = name === "stdout" ? MAX_STDOUT_BYTES : MAX_STDERR_BYTES;
  const chunks: Buffer[] = [];
  let bytes = 0;
  child[name]?.on("data", (chunk: Buffer) => {
    if (bytes + chunk.length > limit) onTooMuch?.();
    const kept = chunk.subarray(0, limit - bytes);
    if (kept.length > 0) chunks.push(kept);
    bytes += kept.length;
  });
  return () => Buffer.concat(chunks);
}
