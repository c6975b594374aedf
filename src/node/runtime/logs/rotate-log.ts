import { posix } from "node:path";
import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { Files } from "../../../host/port.ts";
import { type LogPlace, openLogIfThere } from "./log-place.ts";
import { compressedNames, planRotation, rotatedName } from "./plan-rotation.ts";

export interface RotateLogDeps {
  readonly files: Pick<Files, "openBeneath" | "list" | "remove" | "rename" | "compress">;
  readonly runtime: Pick<RuntimeService, "reopenContainerLog">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** A container that writes, and where it writes to. */
interface WrittenLog {
  readonly containerId: string;
  readonly place: LogPlace;
}

/** When a log is rotated, and how much of it stays. */
export interface RotationPolicy {
  readonly maxSizeBytes: number;
  /** At least 2, the one that is written included. */
  readonly maxFiles: number;
}

/**
 * Rotates a log that has become too long (pkg/kubelet/logs/container_log_manager.go). The older files are taken care of
 * first, so that the disk has room. A crash at any step is made up for by the next call: a log that is missing is opened
 * anew by the runtime, half-made files go.
 */
export async function rotateLogIfLong(
  deps: RotateLogDeps,
  { containerId, place }: WrittenLog,
  { maxSizeBytes, maxFiles, signal }: RotationPolicy & { readonly signal: AbortSignal },
): Promise<void> {
  const { files, runtime } = deps;
  const reopen = async () => void (await runtime.reopenContainerLog({ containerId }, { signal }));
  const sizeBytes = await readSize(deps, place);
  if (sizeBytes === undefined) return await reopen();
  if (sizeBytes < maxSizeBytes) return;

  const path = `${place.root}/${place.path}`;
  const [directory, name] = [posix.dirname(path), posix.basename(path)];
  const names = (await files.list(directory)).map((entry) => entry.name);
  const plan = planRotation(names, name, maxFiles);
  for (const old of plan.remove) await files.remove(`${directory}/${old}`);
  for (const old of plan.compress) {
    await files.compress(`${directory}/${old}`, compressedNames(`${directory}/${old}`), signal);
    await files.remove(`${directory}/${old}`);
  }
  const rotated = `${directory}/${rotatedName(names, name, deps.clock.now())}`;
  await files.rename(path, rotated);
  try {
    await reopen();
  } catch (error) {
    await takeBack(deps, { path, rotated });
    throw error;
  }
}

/** Undefined where there is no log. Rejects where there is something else in its place. */
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
 * The runtime goes on writing to the file that we renamed, so it gets its name back; unless it has made a new one, and
 * only its answer was lost.
 */
async function takeBack(
  { files, log }: RotateLogDeps,
  { path, rotated }: { path: string; rotated: string },
): Promise<void> {
  try {
    await files.rename(rotated, path);
  } catch (error) {
    if (isAbort(error) || codeOf(error) === "EEXIST") return;
    log.error("Failed to rename rotated log", { rotatedLog: rotated, newLog: path, error: messageOf(error) });
  }
}
