import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf } from "../../base/errors.ts";

/**
 * One process, for good: a PID alone may by now belong to a stranger, and the arguments of a process are whatever it
 * writes there. Survives an exec.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since that boot. */
  readonly startTime: number;
  readonly bootId: string;
}

/** Of a live process; undefined when there is none, or it has ended and only waits for its parent to notice. */
export async function readProcessIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const text = await readProcFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before may hold anything
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return { pid, startTime: Number(fields[19]), bootId: await readBootId() };
}

/** A random id that the kernel makes at each boot. */
export async function readBootId(): Promise<string> {
  return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
}

/** False also for one that has ended and only waits for its parent to notice. */
export async function isProcessAlive(identity: ProcessIdentity): Promise<boolean> {
  const current = await readProcessIdentity(identity.pid);
  return current?.startTime === identity.startTime && current.bootId === identity.bootId;
}

/** As PID files and locks hold it: one line of three words. */
export function formatProcessIdentity({ pid, startTime, bootId }: ProcessIdentity): string {
  return `${pid} ${startTime} ${bootId}\n`;
}

/** The process that such a file names, if it still lives. An absent or damaged file names none. */
export async function readLiveProcess(path: string): Promise<ProcessIdentity | undefined> {
  const [pid = "", startTime = "", bootId = ""] = ((await readProcFile(path)) ?? "").trim().split(" ");
  const identity = { pid: Number(pid), startTime: Number(startTime), bootId };
  if (!Number.isSafeInteger(identity.pid) || identity.pid < 2) return undefined;
  return (await isProcessAlive(identity)) ? identity : undefined;
}

/** Every live process of this PID namespace whose arguments match. */
export async function findProcesses(matches: (args: readonly string[]) => boolean): Promise<ProcessIdentity[]> {
  return await findProcessesBy("cmdline", matches);
}

/** As `findProcesses`, by what each was started with as its environment: `NAME=value`. */
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
      // The environment of those that are not ours to see, which are then not ours.
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

/** Ends one process: SIGTERM, a grace period, SIGKILL. Resolves with false when it lives on even so. */
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

/** Sends a signal; a process that is gone already is fine. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** A process may go between the look and the read. */
async function readProcFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH") return undefined;
    throw error;
  }
}
