import { link, rename, rm, writeFile } from "node:fs/promises";
import { codeOf } from "../../base/errors.ts";
import { formatProcessIdentity, readLiveProcess, readProcessIdentity } from "./process-identity.ts";

/** `held`: this process has the lock until `release`. `taken`: another live process has it. */
type ProcessLock = { state: "held"; release(): Promise<void> } | { state: "taken"; pid: number };

const ATTEMPTS = 10;

/** Claims a lock file for this process. A holder that was killed has lost it. */
export async function claimProcessLock(path: string): Promise<ProcessLock> {
  const own = `${path}.${process.pid}`;
  const identity = await readProcessIdentity(process.pid);
  if (identity === undefined) throw new Error("/proc does not show this process");
  await writeFile(own, formatProcessIdentity(identity), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (await tryLink(own, path)) return { state: "held", release: async () => await rm(path, { force: true }) };
      const pid = await readLockHolder(path);
      if (pid !== undefined) return { state: "taken", pid };
      await discardStale(path);
    }
  } finally {
    await rm(own, { force: true });
  }
  throw new Error(`${path}: other processes keep claiming it`);
}

/** Returns the PID of the live process that holds the lock; undefined when none does. */
export async function readLockHolder(path: string): Promise<number | undefined> {
  return (await readLiveProcess(path))?.pid;
}

/**
 * Discards a stale lock. It is moved aside before it is judged again: a live lock may have taken its place since it was
 * read.
 */
async function discardStale(path: string): Promise<void> {
  const aside = `${path}.${process.pid}.stale`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if ((await readLiveProcess(aside)) !== undefined) await tryLink(aside, path);
  await rm(aside, { force: true });
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}
