import { closeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
// It has another name here, because the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";
import { getSystemErrorName } from "node:util";
import { childController, sleep, untilAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { CodedError } from "../../../base/errors.ts";
import { followDescriptor } from "./follow-descriptor.ts";
import { loadInotify } from "./inotify.ts";

/** A file that this process holds the lock of. The kernel takes the lock back when the process ends. */
interface FileLock {
  /**
   * Resolves when somebody opens the file, as every process does that wants the lock. `onWatching` is called when the
   * watch is in force. Rejects when the file cannot be watched, and with AbortedError when the signal fires.
   */
  untilWanted(onWatching: () => void, signal: AbortSignal): Promise<void>;
  release(): Promise<void>;
}

/** The mode is upstream's. */
const FILE_MODE = 0o600;
const LOCK_EX_NB = 0x6;
const IN_OPEN = 0x20;
/** The time between two attempts. flock(2) could also wait by itself, but nobody could end that. */
const RETRY_MS = 250;

/**
 * Opens the file, makes it if it is absent, and takes its lock, flock(2) as upstream's. It waits for as long as another
 * process has the lock; `onWait` is called once when it begins to wait. Rejects with the kernel's code.
 */
export async function acquireFileLock(
  path: string,
  { clock, onWait }: { readonly clock: Clock; onWait(): void },
  signal: AbortSignal,
): Promise<FileLock> {
  const tryLock = loadFlock();
  const file = await untilAborted(openLockFile(path, signal), signal);
  try {
    for (let attempt = 0; !tryLock(file, path); attempt++) {
      if (attempt === 0) onWait();
      await sleep(clock, RETRY_MS, signal);
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    untilWanted: async (onWatching, stop) => await untilOpened(path, onWatching, stop),
    release: async () => await file.close(),
  };
}

/** A file that is open only after somebody stopped waiting for it is closed again. */
async function openLockFile(path: string, signal: AbortSignal): Promise<FileHandle> {
  const file = await open(path, "a+", FILE_MODE);
  if (signal.aborted) await file.close();
  return file;
}

/** The result is false while another process has the lock. It is loaded once, because the wait may be long. */
function loadFlock(): (file: FileHandle, path: string) => boolean {
  const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
  const flock = koffi.load(null).func("int flock(int fd, int operation)");
  return (file, path) => {
    if (flock(file.fd, LOCK_EX_NB) === 0) return true;
    const code = getSystemErrorName(-koffi.errno());
    if (code === "EAGAIN") return false;
    throw new CodedError(code, `${code}: flock '${path}'`);
  };
}

async function untilOpened(path: string, onWatching: () => void, signal: AbortSignal): Promise<void> {
  const inotify = loadInotify();
  const queue = inotify.init();
  const { controller, release } = childController(signal);
  try {
    await inotify.add(queue, path, IN_OPEN);
    onWatching();
    const followed = { descriptor: queue, readiness: "input" } as const;
    await followDescriptor(followed, () => controller.abort(), controller.signal);
  } finally {
    release();
    closeSync(queue);
  }
  signal.throwIfAborted();
}
