import { SECOND } from "../../../base/clock.ts";

/** What is to be done with the rotated files of one log. All are names in the log's directory. */
interface RotationPlan {
  /** Left by rotations that were cut short, or too old to keep; oldest first. */
  readonly remove: readonly string[];
  /** Oldest first. */
  readonly compress: readonly string[];
}

const COMPRESSED = ".gz";
const UNFINISHED = ".tmp";
/** The time of the rotation, then what became of the file. */
const SUFFIX = /^\.\d{8}-\d{6}(\.gz|\.tmp)?$/;

/**
 * Upstream's rotateLog (pkg/kubelet/logs/container_log_manager.go): beside the log that is written and the one that is
 * rotated now, `maxFiles - 2` stay, compressed. What is not named as a rotation names it is not ours to touch.
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

/** Where a rotated file is compressed to, and by which name while that goes on. */
export function compressedNames(path: string): { path: string; unfinished: string } {
  return { path: path + COMPRESSED, unfinished: path + UNFINISHED };
}

/**
 * `0.log.20260102-030405`, in UTC: by local time, as upstream has it, the files of the hour that comes twice in autumn
 * would count as older than they are. A time that another file has, compressed or not, is left to that.
 */
export function rotatedName(names: readonly string[], logName: string, now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").split("T");
  const name = `${logName}.${date}-${time}`;
  const isTaken = names.includes(name) || names.includes(name + COMPRESSED);
  return isTaken ? rotatedName(names, logName, now + SECOND) : name;
}
