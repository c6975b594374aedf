import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { promisify } from "node:util";

/** A program of Kubernetes' own that the environment names. */
export interface UpstreamProgram {
  readonly path: string;
  /** `1.28.15`. */
  readonly version: string;
  /** 28 of 1.28. */
  readonly minor: number;
}

/** The variables that name them. */
type UpstreamVariable = "KUBELET_BIN" | "KUBE_SCHEDULER_BIN" | "KUBE_CONTROLLER_MANAGER_BIN";

/** The program, or undefined where the variable names none; a suite says then, in its title, why it is skipped. */
export async function readUpstreamProgram(variable: UpstreamVariable): Promise<UpstreamProgram | undefined> {
  const path = process.env[variable] ?? "";
  if (path === "") return undefined;
  const { stdout } = await promisify(execFile)(path, ["--version"]);
  const [, version = "", minor = ""] = /^Kubernetes v(1\.(\d+)\.\d+)/.exec(stdout) ?? [];
  if (version === "") throw new Error(`${variable} is ${path}, and says that it is ${stdout.trim()}`);
  return { path, version, minor: Number(minor) };
}

/** A suite's title: which program of which version it is about, or why it is skipped. */
export function titleOf(name: string, variable: UpstreamVariable, program: UpstreamProgram | undefined): string {
  return program === undefined ? `${name} (skipped: ${variable} names none)` : `${name} ${program.version}`;
}

/** A program that runs; ended by its handle and by nothing else. */
export interface RunningUpstream {
  readonly pid: number;
  /** All that it wrote. */
  log(): string;
  /** Rejects when it has ended. */
  alive(): void;
  /** SIGTERM, and its end. Idempotent. */
  stop(): Promise<void>;
  /** As a crash does. */
  kill(): Promise<void>;
}

const STOP_TIMEOUT_MS = 20_000;

interface UpstreamCommand {
  readonly program: UpstreamProgram;
  readonly args: readonly string[];
  readonly logFile: string;
  /** The command prefix by which it is started where containerd's mounts are seen. Default: none. */
  readonly enter?: readonly string[];
}

export function startUpstream({ program, args, logFile, enter = [] }: UpstreamCommand): RunningUpstream {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const [command = program.path, ...rest] = [...enter, program.path, ...args];
  const child = spawn(command, rest, { env, stdio: ["ignore", "pipe", "pipe"] });
  const file = createWriteStream(logFile, { flags: "a" });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      log += chunk.toString("utf8");
      file.write(chunk);
    });
  }
  child.once("error", (error) => {
    log += `${error.message}\n`;
  });
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded(child)) return;
    const ended = once(child, "exit");
    const force = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    child.kill(signal);
    await ended;
    clearTimeout(force);
  };
  return {
    pid: child.pid ?? 0,
    log: () => log,
    alive() {
      if (hasEnded(child)) throw new Error(`${program.path} ended with ${child.exitCode}:\n${log.slice(-4_000)}`);
    },
    stop: async () => await end("SIGTERM"),
    kill: async () => await end("SIGKILL"),
  };
}

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess) =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** klog's head of a line: severity, date, time, thread, where. */
const KLOG_LINE = /^(?:\?\?\? )?[EFW]\d{4} \S+\s+\d+ (\S+\.go):\d+\] (.*)$/;

/** The warnings and errors of a log, `file.go: message` each, without those that a pattern explains; each once. */
export function findProblems(log: string, explained: readonly RegExp[]): string[] {
  const problems = log.split("\n").flatMap((line) => {
    const [, file, message] = KLOG_LINE.exec(line) ?? [];
    return file === undefined ? [] : [`${file}: ${message}`];
  });
  return [...new Set(problems)].filter((problem) => !explained.some((pattern) => pattern.test(problem)));
}
