import { readdir, readFile } from "node:fs/promises";
// It has another name here, because the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";
import type { Clock } from "../../../base/clock.ts";
import { repeat } from "../../../base/interval.ts";

const PERIOD_MS = 10_000;
const WNOHANG = 1;
/** In `/proc/<pid>/stat`, counted from the state, which comes after the name. */
const STATE = 0;
const PARENT = 1;

/**
 * Collects the ends of orphans, which the kernel gives to the first process of a container: without a program like
 * `tini` that is this one, and Node.js asks for the ends of its own children only. Each pod that has ended would keep a
 * process ID for good. It ends, with AbortedError, when the signal fires.
 */
export async function keepReapingOrphans(clock: Clock, signal: AbortSignal): Promise<void> {
  const look = createOrphanReaper();
  await repeat(clock, { periodMs: PERIOD_MS, signal }, async () => {
    await look();
  });
}

/**
 * Creates a look for orphans, which returns the IDs of those that it collected. One is collected at the second look that
 * finds it ended: Node.js collects a child of its own at once, and needs to know how it ended.
 */
export function createOrphanReaper(): () => Promise<number[]> {
  const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
  const waitpid = koffi.load(null).func("int waitpid(int pid, void *status, int options)");
  let seen: ReadonlySet<number> = new Set();
  return async () => {
    const ended = await listEndedChildren();
    const collected = ended.filter((pid) => seen.has(pid) && waitpid(pid, null, WNOHANG) === pid);
    seen = new Set(ended);
    return collected;
  };
}

async function listEndedChildren(): Promise<number[]> {
  const ended: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (fields[STATE] === "Z" && Number(fields[PARENT]) === process.pid) ended.push(Number(name));
  }
  return ended;
}
