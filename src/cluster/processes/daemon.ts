import { type ChildProcess, spawn } from "node:child_process";
import { open, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { isNoSpace } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { USUAL_UMASK } from "../../host/linux/files/usual-umask.ts";
import { withoutService } from "../../host/linux/system/service-notifier.ts";
import { readLogSize, readLogTail, rotateLog } from "./log-file.ts";
import { prefixWithScope } from "./own-scope.ts";
import {
  formatProcessIdentity,
  type ProcessIdentity,
  readLiveProcess,
  readProcessIdentity,
  terminateProcess,
} from "./process-identity.ts";

/** A child that lives on when its parent is killed. The next parent finds it by its PID file. */
export interface Daemon {
  readonly pid: number;
  /** Resolves when the process has ended, whether it was stopped or ended by itself. */
  readonly exited: Promise<DaemonExit>;
  /** Sends SIGTERM, waits for the grace period, sends SIGKILL, and resolves when the process has ended. Idempotent. */
  stop(): Promise<void>;
  /**
   * Reads the end of what this process has written to its log, and nothing of those before it. Default: the last 2,000
   * bytes, which a message can hold.
   */
  readOwnLog(maxBytes?: number): Promise<string>;
}

const LOG_TAIL_BYTES = 2_000;

/** How a process ended: one of the two is not null. */
interface DaemonExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** What to run, and where its PID file and log are; `gracePeriodMs` is between SIGTERM and SIGKILL. */
interface DaemonOptions {
  command: string;
  args: readonly string[];
  environment: NodeJS.ProcessEnv;
  logFile: string;
  pidFile: string;
  gracePeriodMs: number;
  log: Log;
}

/**
 * Starts the program in a session of its own (a Ctrl-C in the terminal does not reach it) and, where systemd runs the
 * machine, in a unit of its own, after it has ended the process that the PID file names, if that still runs. Rejects when
 * the program cannot be started at all.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await endDaemon(options);
  await rotateLog(options.logFile);
  const begin = await readLogSize(options.logFile);
  const child = await spawnInto(options);
  const pid = child.pid ?? 0;
  const exited = new Promise<DaemonExit>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode });
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const identity = await readProcessIdentity(pid);
  if (identity !== undefined) await writePidFile(identity, options);
  return {
    pid,
    exited,
    async stop() {
      if (identity === undefined || (await terminateProcess(identity, options.gracePeriodMs))) await exited;
      await rm(options.pidFile, { force: true });
    },
    readOwnLog: async (maxBytes = LOG_TAIL_BYTES) => await readLogTail(options.logFile, maxBytes, begin),
  };
}

/** A child that can be found again by nobody is ended; on a full disk it runs all the same, because it may free space. */
async function writePidFile(identity: ProcessIdentity, options: DaemonOptions): Promise<void> {
  const { pidFile, gracePeriodMs, log } = options;
  try {
    await writeFile(pidFile, formatProcessIdentity(identity), { mode: 0o600 });
  } catch (error) {
    if (!isNoSpace(error)) {
      await terminateProcess(identity, gracePeriodMs);
      throw error;
    }
    log.warn("a process cannot be found again after a crash of this one, because the disk is full", { pidFile });
  }
}

/** Ends the process that the PID file names, if it still lives. True when there was one. */
export async function endDaemon(options: Pick<DaemonOptions, "pidFile" | "gracePeriodMs" | "log">): Promise<boolean> {
  const { pidFile, gracePeriodMs, log } = options;
  const running = await readLiveProcess(pidFile);
  if (running !== undefined) {
    log.info("ending a process that was left running", { pid: running.pid, pidFile });
    await terminateProcess(running, gracePeriodMs);
  }
  await rm(pidFile, { force: true });
  return running !== undefined;
}

/** The program that uses this library may have any. */
function prefixWithUmask(): readonly string[] {
  return process.umask() === USUAL_UMASK ? [] : ["sh", "-c", `umask ${USUAL_UMASK.toString(8)}; exec "$0" "$@"`];
}

async function spawnInto(options: DaemonOptions): Promise<ChildProcess> {
  const scope = await prefixWithScope(basename(options.pidFile, ".pid"), options.log);
  const [command = options.command, ...args] = [...scope, ...prefixWithUmask(), options.command, ...options.args];
  const log = await open(options.logFile, "a", 0o600);
  try {
    const child = spawn(command, args, {
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      env: withoutService(options.environment),
    });
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", resolve);
    });
    return child;
  } finally {
    await log.close();
  }
}
