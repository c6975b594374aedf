import { type ChildProcess, spawn } from "node:child_process";
import { Readable, type Writable } from "node:stream";
import type { Clock, Timer } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { ProgramFailure, StreamedRun } from "../../programs-port.ts";
import { computeSearchPath } from "./search-path.ts";
import { withoutService } from "./service-notifier.ts";

/** A process that was started in a process group of its own, so that all of its descendants are killed with it. */
export interface StartedProcess {
  /** Null for a process that has nothing to read. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once the process has ended, and never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Kills the whole group. `ended` resolves with the reason of the first call. */
  stop(reason: StopReason): void;
}

/** How a process ended; `ended` means with exit code 0. */
export type ProcessEnd =
  | { readonly kind: "ended" }
  | { readonly kind: "missing" }
  | Pick<ProgramFailure, "kind" | "cause" | "problem" | "exitCode">;

/** Why a process is killed; `problem` is for messages. */
interface StopReason {
  readonly cause: ProgramFailure["cause"];
  readonly problem: string;
}

interface StartOptions {
  readonly clock: Pick<Clock, "setTimer">;
  readonly stdin: "pipe" | "ignore";
  /**
   * How long the pipes may stay open after the process has ended, because other processes that it has started may hold
   * them. Undefined: until the last of those has ended.
   */
  readonly pipeGraceMs?: number;
}

/** How long a process may go on after it was killed. After that no caller waits for it any more. */
const KILL_GRACE_MS = 1_000;

/** A process that cannot be started counts as one that has ended already. */
export function startProcess(run: Omit<StreamedRun, "timeoutMs">, options: StartOptions): StartedProcess {
  const { path, args, environment, inheritsEnvironment = true, descriptors = [] } = run;
  const inherited = inheritsEnvironment ? withoutService(process.env) : {};
  try {
    const child = spawn(path, args, {
      env: { ...inherited, PATH: computeSearchPath(process.env["PATH"]), ...environment },
      stdio: [options.stdin, "pipe", "pipe", ...descriptors],
      detached: true,
    });
    return follow(child, options);
  } catch (error) {
    // Node.js throws some errors of the system, such as E2BIG, and reports the others by an event.
    return { ...silentStreams(), ended: Promise.resolve(notStarted(error)), stop: () => undefined };
  }
}

function follow(child: ChildProcess, { clock, pipeGraceMs }: StartOptions): StartedProcess {
  const { stdin, stdout, stderr } = { ...silentStreams(), ...withoutNulls(child) };
  // A process may end, or close its input, without having read all of it. What is wrong with its output shows in what
  // was read, and in how it ends. An error without a listener would end this process.
  for (const stream of [stdin, stdout, stderr]) stream?.on("error", () => undefined);
  let reason: StopReason | undefined;
  let grace: Timer | undefined;
  let settle: (end: ProcessEnd) => void = () => undefined;
  const ended = new Promise<ProcessEnd>((resolve) => {
    settle = resolve;
  });
  const closePipes = () => {
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
  };
  const finish = (end: ProcessEnd) => {
    grace?.cancel();
    settle(reason === undefined ? end : { kind: "failed", ...reason, exitCode: undefined });
  };
  child.on("error", (error) => {
    if (child.pid === undefined) finish(notStarted(error));
  });
  child.once("exit", (code, signal) => {
    if (reason !== undefined) {
      closePipes();
      finish(endOf(code, signal));
    } else if (pipeGraceMs !== undefined) {
      grace = clock.setTimer(pipeGraceMs, closePipes);
    }
  });
  child.once("close", (code, signal) => finish(endOf(code, signal)));
  return {
    stdin,
    stdout,
    stderr,
    ended,
    stop(why) {
      if (reason !== undefined || child.pid === undefined) return;
      reason = why;
      grace?.cancel();
      killGroup(child.pid);
      grace = clock.setTimer(KILL_GRACE_MS, () => {
        child.unref();
        closePipes();
        finish({ kind: "ended" });
      });
    },
  };
}

function endOf(code: number | null, signal: NodeJS.Signals | null): ProcessEnd {
  if (code === 0) return { kind: "ended" };
  if (code === null) {
    return { kind: "failed", cause: "signal", problem: `was killed by ${signal}`, exitCode: undefined };
  }
  return { kind: "failed", cause: "exit-code", problem: `failed with exit code ${code}`, exitCode: code };
}

function notStarted(error: unknown): ProcessEnd {
  if (codeOf(error) === "ENOENT") return { kind: "missing" };
  return { kind: "failed", cause: "not-started", problem: messageOf(error), exitCode: undefined };
}

type Streams = Pick<StartedProcess, "stdin" | "stdout" | "stderr">;

function silentStreams(): Streams {
  return { stdin: null, stdout: Readable.from([]), stderr: Readable.from([]) };
}

/** Pipes are missing from a process that was not started for want of descriptors. */
function withoutNulls({ stdin, stdout, stderr }: ChildProcess): Partial<Streams> {
  return { ...(stdin && { stdin }), ...(stdout && { stdout }), ...(stderr && { stderr }) };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The last process of the group has ended by itself meanwhile.
  }
}
