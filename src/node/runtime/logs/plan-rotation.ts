import { SECOND } from "../../../base/clock.ts";
import type { CompressedNames } from "../../../host/port.ts";

/** What to do with the rotated files of one log. All are names in the log's directory. */
interface RotationPlan {
  /** Files that interrupted rotations have left, or that are too old to keep; oldest first. */
  readonly remove: readonly string[];
  /** Files to compress, oldest first. */
  readonly compress: readonly string[];
}

const COMPRESSED = ".gz";
const UNFINISHED = ".tmp";
/** The suffix of a rotated file: the time of the rotation, then the state of its compression. */
const SUFFIX = /^\.\d{8}-\d{6}(\.gz|\.tmp)?$/;

/**
 * Plans as upstream's rotateLog (pkg/kubelet/logs/container_log_manager.go): beside the log that is written and the one
 * that is rotated now, `maxFiles - 2` files stay, compressed. Files with other names are not ours to touch.
 */
export function planRotation(names: readonly string[], logName: string, maxFiles: number): RotationPlan {
  const rotated = names.filter((name) => name.startsWith(logName) && SUFFIX.test(name.slice(logName.length))).sort();
  const all = new Set(rotated);
  const isUsed = (name: string) =>
    !name.endsWith(UNFINISHED) && (name.endsWith(COMPRESSED) || !all.has(name + COMPRESSED));
  const used = rotated.filter(isUsed);
  const excess = used.slice(0, Math.max(0, used.length - Math.max(0, maxFiles - 2)));
  const kept = used.slice(excess.length);
  return {
    remove: [...rotated.filter((name) => !isUsed(name)), ...excess],
    compress: kept.filter((name) => !name.endsWith(COMPRESSED)),
  };
}

/** The name of a rotated file once it is compressed, and its name while it is being compressed. */
export function compressedNames(name: string): CompressedNames {
  return { name: name + COMPRESSED, unfinished: name + UNFINISHED };
}

/**
 * Names a rotated file, `0.log.20260102-030405`, in UTC. Upstream uses local time, by which files of the hour that
 * comes twice in autumn would count as older than they are. Where another file has the name, compressed or not, a later
 * second is used.
 */
export function rotatedName(names: readonly string[], logName: string, now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").split("T");
  const name = `${logName}.${date}-${time}`;
  const isTaken = names.includes(name) || names.includes(name + COMPRESSED);
  return isTaken ? rotatedName(names, logName, now + SECOND) : name;
}
