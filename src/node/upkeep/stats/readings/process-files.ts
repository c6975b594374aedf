import { type Clock, MINUTE, SECOND } from "../../../../base/clock.ts";
import type { OpenFiles, Proc } from "../../../../host/proc-port.ts";

/** What the processes of a cgroup have open. */
export interface ProcessFiles {
  /** Undefined for more processes than are looked at. */
  readonly open: OpenFiles | undefined;
  /** How many files the first process, or the machine's, may open; -1 without a limit, undefined where the process has gone. */
  readonly limit: number | undefined;
}

interface ProcessFilesReader {
  /** Reads what the processes of the cgroup have open, or returns what was read a moment ago. */
  of(path: string, pids: readonly number[]): Promise<ProcessFiles>;
}

interface ProcessFilesDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly proc: Pick<Proc, "openFiles" | "openFileLimit">;
}

/**
 * A reading is good for this long, as cadvisor's is. Several Prometheus servers then cost no more than one: the counts
 * are by far the dearest part of the page.
 */
const REMEMBERED_MS = 10 * SECOND;
const FORGOTTEN_MS = MINUTE;
/** The machine's first process, which is often in another cgroup than the root. */
const INIT_PID = 1;

export function createProcessFiles({ clock, proc }: ProcessFilesDeps): ProcessFilesReader {
  const known = new Map<string, { readonly at: number; readonly files: ProcessFiles }>();
  let sweptAt = clock.monotonic();
  const sweep = (now: number) => {
    if (now - sweptAt < FORGOTTEN_MS) return;
    sweptAt = now;
    for (const [path, { at }] of known) if (now - at >= FORGOTTEN_MS) known.delete(path);
  };
  return {
    async of(path, pids) {
      const now = clock.monotonic();
      sweep(now);
      const before = known.get(path);
      if (before !== undefined && now - before.at < REMEMBERED_MS) return before.files;
      const first = path === "/" ? INIT_PID : pids[0];
      const limit = first === undefined ? undefined : await proc.openFileLimit(first);
      const files = { open: await proc.openFiles(pids), limit };
      known.set(path, { at: now, files });
      return files;
    },
  };
}
