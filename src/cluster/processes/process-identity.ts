import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../../base/errors.ts";

/**
 * Identifies one process for ever. A PID alone may by now belong to another process, and a process can overwrite its
 * own arguments. The identity survives an exec.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** The time is in ticks since that boot. */
  readonly startTime: number;
  readonly bootId: string;
}

/**
 * Reads the identity of a live process; undefined when there is none, or when it has ended and only waits for its
 * parent to notice.
 */
export async function readProcessIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const text = await readProcFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before may hold anything
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return { pid, startTime: Number(fields[19]), bootId: await readBootId() };
}

/** Reads the random ID that the kernel makes at each boot. */
export async function readBootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

/** Tells whether the process is alive. A process that has ended and only waits for its parent to notice is not. */
export async function isProcessAlive(identity: ProcessIdentity): Promise<boolean> {
  const current = await readProcessIdentity(identity.pid);
  return current?.startTime === identity.startTime && current.bootId === identity.bootId;
}

/** Formats the identity as PID files and locks hold it: one line of three words. */
export function formatProcessIdentity({ pid, startTime, bootId }: ProcessIdentity): string {
  return `${pid} ${startTime} ${bootId}\n`;
}

/** Reads the process that such a file names, if it still lives. A missing or damaged file names none. */
export async function readLiveProcess(path: string): Promise<ProcessIdentity | undefined> {
  const [pid = "", startTime = "", bootId = ""] = ((await readProcFile(path)) ?? "").trim().split(" ");
  const identity = { pid: Number(pid), startTime: Number(startTime), bootId };
  if (!Number.isSafeInteger(identity.pid) || identity.pid < 1) return undefined;
  return (await isProcessAlive(identity)) ? identity : undefined;
}

/** Finds every live process of this PID namespace whose arguments match. */
export async function findProcesses(matches: (args: readonly string[]) => boolean): Promise<ProcessIdentity[]> {
  return await findProcessesBy("cmdline", matches);
}

/** Does the same as `findProcesses`, by the environment that each process was started with: `NAME=value`. */
export async function findProcessesByEnvironment(
  matches: (environment: readonly string[]) => boolean,
): Promise<ProcessIdentity[]> {
  return await findProcessesBy("environ", matches);
}

async function findProcessesBy(
  file: "cmdline" | "environ",
  matches: (words: readonly string[]) => boolean,
): Promise<ProcessIdentity[]> {
  const found: ProcessIdentity[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readProcFile(`/proc/${name}/${file}`).catch((error: unknown) => {
      // The environment of another user's process cannot be read, and such a process is not ours.
      if (codeOf(error) === "EACCES" || codeOf(error) === "EPERM") return undefined;
      throw error;
    });
    const isMatch = matches((text ?? "").split("\0").slice(0, -1));
    const identity = isMatch ? await readProcessIdentity(Number(name)) : undefined;
    if (identity !== undefined) found.push(identity);
  }
  return found;
}

const POLL_MS = 20;
const KILL_WAIT_MS = 5_000;

/** Ends one process: SIGTERM, a grace period, SIGKILL. Resolves with false when it still lives after that. */
export async function terminateProcess(identity: ProcessIdentity, gracePeriodMs: number): Promise<boolean> {
  for (const [signal, waitMs] of [["SIGTERM", gracePeriodMs] as const, ["SIGKILL", KILL_WAIT_MS] as const]) {
    if (!(await isProcessAlive(identity))) return true;
    sendSignal(identity.pid, signal);
    const deadline = performance.now() + waitMs;
    while (performance.now() < deadline) {
      if (!(await isProcessAlive(identity))) return true;
      await delay(POLL_MS);
    }
  }
  return !(await isProcessAlive(identity));
}

/** Sends a signal. It is no error when the process is gone already. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** Reads a file of `/proc`. The process may end between the look and the read. */
async function readProcFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH") return undefined;
    throw error;
  }
}
