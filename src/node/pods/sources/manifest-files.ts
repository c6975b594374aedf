import { basename, join } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { FileType } from "../../../host/file-type.ts";
import { findForeignWriter } from "../../../host/foreign-writer.ts";
import type { FileStatus, Files } from "../../../host/port.ts";
import type { ManifestObject } from "../../cluster/refs/manifest-objects.ts";
import { DANGLING_LINK, type ManifestFile, type ManifestFileDeps, readManifestFile } from "./manifest-file.ts";
import { createProblemLog, describeProblem, type ManifestProblem, type Problem } from "./problem-log.ts";
import type { SourcePod } from "./source-snapshot.ts";

/** The manifests at one path, a directory or a file, with the last content of each. */
interface ManifestFiles {
  /**
   * Reads the files that changed since the last scan. One scan at a time. `removed` are the paths of files that were away
   * since the last scan began: those that are back give their pods as returned ones.
   */
  scan(removed: ReadonlySet<string>): Promise<Scan>;
  /** What is wrong with the path and its files since the last scan, in the order of their names. */
  problems(): readonly ManifestProblem[];
}

/** What the files at the path give together. */
interface Found {
  pods: SourcePod[];
  /** The config maps and secrets beside the pods. */
  objects: ManifestObject[];
  isPartial: boolean;
}

/**
 * - `directory`, `file`: what the path is; its pods in the order of the files' names, `isPartial` where some file could
 *   never be read.
 * - `missing`: there is nothing at the path, so there are no pods.
 * - `unreadable`: the path could not be looked at; its known pods stand.
 */
export type Scan =
  | ({ kind: "directory" | "file" } & Found)
  | { kind: "missing"; pods: []; objects: [] }
  | { kind: "unreadable" };

interface ManifestFilesDeps extends ManifestFileDeps {
  files: Pick<Files, "read" | "stat" | "list">;
  log: Log;
}

/** The flag that makes the warning a refusal. */
const REFUSE_FLAG = "--nodelet-refuse-foreign-manifests";
/** The limit of files; those beyond it, in the order of their names, are not read. */
const MAX_FILES = 10_000;
const PARALLEL_READS = 16;

interface ManifestFilesOptions {
  path: string;
  nodeName: string;
  /** Take no pods from a file or directory that others than root may change. Default: they are warned of. */
  refusesForeign?: boolean | undefined;
  /** Leaves objects of other kinds than pods to others. Default: they are problems. */
  ignoresOtherKinds?: boolean | undefined;
  /** Takes config maps and secrets, for pods to name. Default: they are of other kinds. */
  takesData?: boolean | undefined;
}

export function createManifestFiles(deps: ManifestFilesDeps, options: ManifestFilesOptions): ManifestFiles {
  const problems = createProblemLog(deps.log, "file");
  const known = new Map<string, ManifestFile>();
  const warned = new Map<string, string>();
  const limiter = createLimiter(PARALLEL_READS);

  /** Returns why nothing is taken from the path; a warning of it comes once for each state that it is in. */
  const judgeOwner = (path: string, status: FileStatus): string | undefined => {
    const writer = findForeignWriter(status);
    if (writer === undefined) {
      warned.delete(path);
      return undefined;
    }
    if (options.refusesForeign === true) return `${writer}, and ${REFUSE_FLAG} is set`;
    if (warned.get(path) !== writer) {
      deps.log.warn("Pod manifests can be changed by others than root", { path, reason: writer, mend: REFUSE_FLAG });
    }
    warned.set(path, writer);
    return undefined;
  };

  const refresh = async ({ path, type }: { path: string; type: FileType }) => {
    const { nodeName, ignoresOtherKinds, takesData } = options;
    const judge = (status: FileStatus) => judgeOwner(path, status);
    const asked = { path, nodeName, ignoresOtherKinds, takesData, judge };
    const found = await readManifestFile(deps, asked, known.get(path));
    const file = found ?? (type === "link" ? DANGLING_LINK : undefined);
    if (file === undefined) return forget(path);
    known.set(path, file);
    if (file.warning !== undefined) {
      deps.log.warn("Pod manifest has unusual content", { file: path, warning: file.warning });
    }
    problems.report(path, file.problem);
  };
  const forget = (path: string) => {
    known.delete(path);
    warned.delete(path);
    problems.forget(path);
  };

  const readAll = async (
    entries: ReadonlyArray<{ path: string; type: FileType }>,
    removed: ReadonlySet<string>,
  ): Promise<Found> => {
    const present = new Set(entries.map(({ path }) => path));
    // What was read before a removal is not kept where the file is back and cannot be read.
    const returned = new Set([...known.keys()].filter((path) => removed.has(path)));
    for (const path of known.keys()) if (!present.has(path) || returned.has(path)) forget(path);
    await Promise.all(entries.map(async (entry) => limiter.run(async () => refresh(entry))));
    const files = entries.flatMap(({ path }) => {
      const file = known.get(path);
      if (file === undefined) return [];
      return returned.has(path)
        ? { ...file, pods: file.pods.map((pod) => ({ ...pod, isReturned: true as const })) }
        : file;
    });
    return {
      pods: files.flatMap(({ pods }) => pods),
      objects: files.flatMap(({ objects }) => objects),
      isPartial: files.some(({ isUnread }) => isUnread),
    };
  };

  const look = async (path: string, removed: ReadonlySet<string>): Promise<{ scan: Scan; problem?: Problem }> => {
    const status = await deps.files.stat(path);
    const type = status?.type;
    const refusal = status && type === "directory" ? judgeOwner(path, status) : undefined;
    if (refusal !== undefined) throw new Error(refusal);
    if (type === "file") return { scan: { kind: type, ...(await readAll([{ path, type }], removed)) } };
    if (type === undefined) {
      await readAll([], removed);
      const message = "Pod manifest path does not exist: it gives no pods";
      return { scan: { kind: "missing", pods: [], objects: [] }, problem: { level: "warn", message } };
    }
    if (type !== "directory") throw new Error(`it is neither a directory nor a file but a ${type}`);
    // Upstream skips the same: a name that begins with a dot is an editor's, or another file's half-written successor.
    const listed = (await deps.files.list(path)).filter(({ name }) => !name.startsWith("."));
    const entries = listed.slice(0, MAX_FILES).map((entry) => ({ path: join(path, entry.name), type: entry.type }));
    const scan: Scan = { kind: type, ...(await readAll(entries, removed)) };
    if (listed.length <= MAX_FILES) return { scan };
    const error = `${listed.length} files: only the first ${MAX_FILES} by name are read`;
    return { scan, problem: { level: "error", message: "Too many pod manifests", fields: { error } } };
  };

  // A problem with the path is another than one with the file there.
  const pathProblems = createProblemLog(deps.log, "path");
  let pathProblem: Problem | undefined;
  const lookOrComplain = async (removed: ReadonlySet<string>): Promise<{ scan: Scan; problem?: Problem }> => {
    try {
      return await look(options.path, removed);
    } catch (error) {
      const fields = { error: messageOf(error) };
      return {
        scan: { kind: "unreadable" },
        problem: { level: "error", message: "Cannot read pod manifest path", fields },
      };
    }
  };
  return {
    async scan(removed) {
      const { scan, problem } = await lookOrComplain(removed);
      pathProblems.report(options.path, problem);
      pathProblem = problem;
      return scan;
    },
    problems() {
      const ofPath = pathProblem === undefined ? [] : [describeProblem(options.path, pathProblem)];
      const ofFiles = [...known].flatMap(([file, { problem }]) =>
        problem?.level === "error" ? [describeProblem(basename(file), problem)] : [],
      );
      return [...ofPath, ...ofFiles.toSorted((a, b) => (a.file < b.file ? -1 : 1))];
    },
  };
}
