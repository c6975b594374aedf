import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { AbortedError } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { ProgramRun, Programs } from "../../programs-port.ts";

/** See `Programs.stream`. Standard output and errors take turns, so that one portion is under way at a time. */
export async function streamProgram(
  { path, args, environment, stdin, timeoutMs }: ProgramRun,
  write: (bytes: Buffer) => Promise<void>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): ReturnType<Programs["stream"]> {
  if (signal.aborted) throw new AbortedError();
  const child = spawn(path, args, {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
    // A process group of its own: what it starts ends with it.
    detached: true,
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  let problem: string | undefined;
  const stop = (why: string) => {
    problem ??= why;
    endGroup(child);
  };
  const timer = clock.setTimer(timeoutMs, () => stop(`did not end within ${timeoutMs} ms`));
  const onAbort = () => stop("was stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  const turns = createLimiter(1);
  const forward = async (from: Readable) => {
    for await (const bytes of from) await turns.run(async () => await write(bytes));
  };
  try {
    const exited = untilExited(child);
    await Promise.all([forward(child.stdout), forward(child.stderr)]).catch((error: unknown) => {
      if (problem === undefined) throw error;
    });
    const end = await exited;
    if (signal.aborted) throw new AbortedError();
    if (end === "missing") return { kind: "missing" };
    const failed = problem ?? end;
    return failed === undefined ? { kind: "ended" } : { kind: "failed", problem: failed, stderr: "" };
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
    if (child.exitCode === null && child.signalCode === null) stop("nobody reads any more");
  }
}

/** What is wrong with how it ended; undefined for nothing. */
async function untilExited(child: ChildProcess): Promise<string | undefined> {
  return await new Promise((resolve) => {
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(codeOf(error) === "ENOENT" ? "missing" : messageOf(error));
    });
    child.once("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(code === null ? `was killed by ${signal}` : `failed with exit code ${code}`);
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}
