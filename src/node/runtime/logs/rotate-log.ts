import { posix } from "node:path";
import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { CompressionLimits, Files, OpenedDirectory } from "../../../host/port.ts";
import { type LogPlace, openLogIfThere } from "./log-place.ts";
import { compressedNames, planRotation, rotatedName } from "./plan-rotation.ts";

export interface RotateLogDeps {
  readonly files: Pick<Files, "openBeneath" | "openDirectoryBeneath">;
  readonly runtime: Pick<RuntimeService, "reopenContainerLog">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** False for a container that has ended by now: its log may have gone with its pod. */
  isRunning(containerId: string): boolean;
}

/** A container, and the place of its log. */
interface WrittenLog {
  readonly containerId: string;
  readonly place: LogPlace;
}

/** When a log is rotated, and how many files are kept. */
export interface RotationPolicy {
  readonly maxSizeBytes: number;
  /** At least 2. The file that is being written counts too. */
  readonly maxFiles: number;
}

/**
 * Rotates a log that has become too long (pkg/kubelet/logs/container_log_manager.go). Older files are removed and compressed
 * first, so that the disk has room. The next call repairs what a crash at any step has left: the runtime reopens a missing
 * log, and unfinished files are removed.
 */
export async function rotateLogIfLong(
  deps: RotateLogDeps,
  { containerId, place }: WrittenLog,
  { maxSizeBytes, maxFiles, signal }: RotationPolicy & { readonly signal: AbortSignal },
): Promise<void> {
  const reopen = async () => {
    await deps.runtime.reopenContainerLog({ containerId }, { signal });
  };
  const sizeBytes = await readSize(deps, place);
  if (sizeBytes === undefined) return deps.isRunning(containerId) ? await reopen() : undefined;
  if (sizeBytes < maxSizeBytes) return;

  // All steps are in one directory that is held open: a pod that can write there may exchange its name for a link between
  // any two of them.
  const directory = await deps.files.openDirectoryBeneath(place.root, posix.dirname(place.path));
  try {
    const name = posix.basename(place.path);
    const names = (await directory.list()).map((entry) => entry.name);
    const plan = planRotation(names, name, maxFiles);
    for (const old of plan.remove) await directory.remove(old);
    for (const old of plan.compress) {
      await compressUnlessHuge(deps, directory, { old, maxBytes: maxSizeBytes * HUGE, signal });
      await directory.remove(old);
    }
    const rotated = rotatedName(names, name, deps.clock.now());
    await directory.rename(name, rotated);
    try {
      await reopen();
    } catch (error) {
      await takeBack(deps, { directory, name, rotated });
      throw error;
    }
  } finally {
    await directory.close();
  }
}

/**
 * Rotated logs of more than so many times the length at which they are rotated are removed and not compressed. A pod that
 * can write to the logs' directory makes a sparse file of any length, and other logs wait until it is done.
 */
const HUGE = 1_000;

async function compressUnlessHuge(
  { log }: RotateLogDeps,
  directory: OpenedDirectory,
  { old, ...limits }: { readonly old: string } & CompressionLimits,
): Promise<void> {
  try {
    await directory.compress(old, compressedNames(old), limits);
  } catch (error) {
    if (codeOf(error) !== "EFBIG") throw error;
    log.warn("A rotated log is too long to be compressed, and is removed", { log: old, maxBytes: limits.maxBytes });
  }
}

/** Reads the log's size; undefined where there is no log. Rejects where something else is in its place. */
async function readSize(deps: RotateLogDeps, place: LogPlace): Promise<number | undefined> {
  const file = await openLogIfThere(deps.files, place);
  if (file === undefined) return undefined;
  try {
    return (await file.status()).sizeBytes;
  } finally {
    await file.close();
  }
}

/**
 * Gives the renamed file its name back, because the runtime still writes to it. Where the runtime has made a new file,
 * and only its answer was lost, nothing is renamed.
 */
async function takeBack(
  { log }: RotateLogDeps,
  { directory, name, rotated }: { directory: OpenedDirectory; name: string; rotated: string },
): Promise<void> {
  try {
    await directory.rename(rotated, name);
  } catch (error) {
    if (isAbort(error) || codeOf(error) === "EEXIST") return;
    log.error("Failed to rename rotated log", { rotatedLog: rotated, newLog: name, error: messageOf(error) });
  }
}
