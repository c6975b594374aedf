import { mkdtemp, readdir, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { messageOf } from "../../src/base/errors.ts";
import {
  formatProcessIdentity,
  readLiveProcess,
  readProcessIdentity,
} from "../../src/cluster/processes/process-identity.ts";
import { removeRun } from "./remove-run.ts";

/** Short, because paths of sockets lie beneath it. */
const PREFIX = "nlt-";
/** Names the process to which the run belongs, as PID files do. */
const OWNER = "owner";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The removal of the run that this module has begun; undefined where it began none. It is done once. */
let removeOwn: (() => Promise<void>) | undefined;

/**
 * Begins a run of tests, before the first of them: what runs that were killed have left on the machine is removed, and
 * this one gets a directory of its own, in which all tests make theirs (`TMPDIR`). Called again by the same process, it does
 * nothing. A signal removes what the run has made before the process ends.
 */
export async function setup({ vitest }: Pick<TestProject, "vitest">): Promise<void> {
  const current = tmpdir();
  if (isRunDirectory(current) && (await readLiveProcess(join(current, OWNER)))?.pid === process.pid) return;
  const parent = isRunDirectory(current) ? dirname(current) : current;
  await removeDeadRuns(parent);
  const directory = await openRun(parent);
  process.env["TMPDIR"] = directory;
  let removed: Promise<void> | undefined;
  removeOwn = async () => {
    removed ??= removeRun(directory);
    await removed;
  };
  removeAtSignals(vitest, removeOwn);
}

/** Ends the run. What a test has left behind is removed, too. */
export async function teardown(): Promise<void> {
  await removeOwn?.();
}

/** The name of this run, with which names on the machine begin that lie in no directory; that of the process outside of runs. */
export function runName(): string {
  const name = basename(tmpdir());
  return name.startsWith(PREFIX) ? name : `${PREFIX}${process.pid}`;
}

/** Makes the directory of a run that belongs to this process. It has its owner from the moment at which it has its name. */
export async function openRun(parent: string): Promise<string> {
  const identity = await readProcessIdentity(process.pid);
  if (identity === undefined) throw new Error("/proc does not show this process");
  const unnamed = await mkdtemp(join(parent, `.${PREFIX}`));
  await writeFile(join(unnamed, OWNER), formatProcessIdentity(identity));
  const directory = join(parent, basename(unnamed).slice(1));
  await rename(unnamed, directory);
  return directory;
}

/** Removes the runs whose owners do not live any more. Those of others are not touched. */
export async function removeDeadRuns(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const directory = join(parent, name);
    if (isRunDirectory(directory) && (await readLiveProcess(join(directory, OWNER))) === undefined)
      await removeRun(directory);
  }
}

function isRunDirectory(path: string): boolean {
  return /^nlt-[0-9A-Za-z]{6}$/.test(basename(path));
}

/** Vitest ends at once at a signal; that waits until all is removed. A second signal does not wait. */
function removeAtSignals(vitest: TestProject["vitest"], remove: () => Promise<void>): void {
  for (const signal of SIGNALS) {
    const others = process.listeners(signal);
    process.removeAllListeners(signal);
    process.once(signal, (...args) => {
      console.error(`${signal}: removing what the tests have made`);
      const end = () => {
        for (const listener of others) listener(...args);
        process.exit(1);
      };
      process.once(signal, end);
      // Files that wait for their turn would begin in place of those whose processes are killed.
      vitest.cancelCurrentRun("keyboard-input").catch(() => undefined);
      remove().then(end, (error: unknown) => {
        // Without its stack: Vitest cannot map that of code that it keeps translated, and fails in turn.
        console.error(messageOf(error));
        end();
      });
    });
  }
}
