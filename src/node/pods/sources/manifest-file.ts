import { createHash } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { FileType } from "../../../host/file-type.ts";
import type { FileStatus, Files } from "../../../host/port.ts";
import type { ManifestObject } from "../../cluster/refs/manifest-objects.ts";
import { joinManifestErrors, type Problem } from "./problem-log.ts";
import { keepLastGood, MAX_MANIFEST_BYTES, type ManifestContent, readManifest } from "./read-manifest.ts";
import { keepLastObjects } from "./read-manifest-data.ts";
import type { SourcePod } from "./source-snapshot.ts";

/** The last content of one manifest file. */
export interface ManifestFile {
  /** Identifies the file status that the content was read under; empty to read the file again in any case. */
  version: string;
  /** The file was read so soon after its change that another change may have the same times and size. */
  isFresh: boolean;
  contentHash: string;
  pods: SourcePod[];
  /** The config maps and secrets beside the pods. */
  objects: ManifestObject[];
  /** The file was never read, so that its pods are not known. */
  isUnread?: boolean;
  /** The problem with the file, if there is one. */
  problem?: Problem;
  /** Remarks on unusual parts of the content that was just read, which were understood all the same. */
  warning?: string;
}

export interface ManifestFileDeps {
  clock: Pick<Clock, "now">;
  files: Pick<Files, "read" | "stat">;
}

interface ManifestFilePlace {
  path: string;
  nodeName: string;
  /** Returns why a file of this status is refused; undefined where it is read. */
  judge(status: FileStatus): string | undefined;
  /** Leaves objects of other kinds than pods to others. Default: they are problems. */
  ignoresOtherKinds?: boolean | undefined;
  /** Takes config maps and secrets, for pods to name. Default: they are of other kinds. */
  takesData?: boolean | undefined;
}

/** The coarsest clock of a file system in use (FAT, some network file systems). */
const FRESH_MS = 2_000;
const READ_ATTEMPTS = 3;
const NOTHING: ManifestFile = { version: "", isFresh: false, contentHash: "", pods: [], objects: [] };

/**
 * The file as it is now, given its content before; undefined when it is gone. A file that did not change is not read.
 * One that cannot be read, or whose content is refused, keeps its pods and says so in `problem`.
 */
export async function readManifestFile(
  deps: ManifestFileDeps,
  file: ManifestFilePlace,
  before: ManifestFile = NOTHING,
): Promise<ManifestFile | undefined> {
  try {
    const status = await deps.files.stat(file.path);
    if (status === undefined) return undefined;
    const { type, version, modifiedAt } = status;
    if (type !== "file") return { ...NOTHING, problem: refuseType(type) };
    const refused = file.judge(status);
    if (refused !== undefined) {
      const fields = { error: refused, ...countKept(before) };
      return { ...NOTHING, ...keepAll(before), problem: { level: "error", message: "Refused pod manifest", fields } };
    }
    if (before.version === version && !before.isFresh) return withoutWarning(before);

    const read = await readSettled(deps.files, file.path, version);
    const isFresh = Math.abs(deps.clock.now() - modifiedAt) < FRESH_MS;
    const contentHash = createHash("sha256").update(read.data).digest("hex");
    const state = { version: read.version, isFresh, contentHash };
    if (before.contentHash === contentHash) return { ...withoutWarning(before), ...state };
    const { path: location, nodeName, ...options } = file;
    const content = readManifest(read.data, { source: "file", location, nodeName }, options);
    return { ...state, ...takeContent(before, content, file) };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    const isTooLong = codeOf(error) === "EFBIG";
    const words = isTooLong ? `EFBIG: it is longer than ${MAX_MANIFEST_BYTES / 1024 ** 2} MiB` : messageOf(error);
    const fields = { error: words, ...countKept(before) };
    // A file that is refused for its length counts as read; after any other error the file's pods are not known.
    const isUnread = !isTooLong && (before === NOTHING || before.isUnread === true);
    const problem: Problem = { level: "error", message: "Cannot read pod manifest", fields };
    return { ...NOTHING, ...keepAll(before), problem, isUnread };
  }
}

/** Reads again when the file changed meanwhile, so that half of a manifest is not taken for a whole one. */
async function readSettled(
  files: Pick<Files, "read" | "stat">,
  path: string,
  versionBefore: string,
): Promise<{ data: Buffer; version: string }> {
  let version = versionBefore;
  for (let attempt = 1; ; attempt++) {
    const data = await files.read(path, MAX_MANIFEST_BYTES);
    const after = await files.stat(path);
    // A file that still changes after some attempts is taken as it is, and read again at the next look.
    if (after?.version === version || attempt === READ_ATTEMPTS) return { data, version };
    version = after?.version ?? "";
  }
}

function takeContent(
  before: ManifestFile,
  content: ManifestContent,
  { ignoresOtherKinds }: Pick<ManifestFilePlace, "ignoresOtherKinds">,
): Pick<ManifestFile, "objects" | "pods" | "problem" | "warning"> {
  const hasAny = content.pods.length > 0 || content.objects.length > 0 || content.hasOthers;
  // A writer leaves an empty file between truncating it and writing it anew.
  const isEmpty = !hasAny && content.errors.length === 0;
  const errors = isEmpty ? [`it holds no ${ignoresOtherKinds === true ? "object" : "pod"}`] : content.errors;
  const pods = keepLastGood(before.pods, { pods: content.pods, errors });
  const objects = keepLastObjects(before.objects, { objects: content.objects, errors });
  const kept = {
    pods: pods.slice(content.pods.length),
    objects: objects.slice(content.objects.length),
  };
  const fields = { error: joinManifestErrors(errors), ...countKept(kept) };
  return {
    pods,
    objects,
    ...(errors.length > 0 && { problem: { level: "error", message: "Refused pod manifest", fields } }),
    ...(content.warnings.length > 0 && { warning: joinManifestErrors(content.warnings) }),
  };
}

type Kept = Pick<ManifestFile, "objects" | "pods">;

const keepAll = ({ pods, objects }: Kept): Kept => ({ pods, objects });

function countKept({ pods, objects }: Kept): { podsKept?: number; objectsKept?: number } {
  return {
    ...(pods.length > 0 && { podsKept: pods.length }),
    ...(objects.length > 0 && { objectsKept: objects.length }),
  };
}

/** The content of a link that leads to nothing: it has no pods, and a problem that says why. */
export const DANGLING_LINK: ManifestFile = { ...NOTHING, problem: refusal("it is a link that leads to nothing") };

function refuseType(type: FileType): Problem {
  // A directory is no manifest and no problem: it may be there for other reasons.
  if (type === "directory") {
    return { ...refusal("it is a directory: directories are not descended into"), level: "warn" };
  }
  return refusal(type === "other" ? "it is a pipe or another special file" : `it is a ${type.replace("-", " ")}`);
}

function refusal(error: string): Problem {
  return { level: "error", message: "Ignored pod manifest that is not a file", fields: { error } };
}

function withoutWarning({ warning: _, ...file }: ManifestFile): ManifestFile {
  return file;
}
