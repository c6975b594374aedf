import { dirname, join, resolve } from "node:path";
import { childController, isAbort } from "../../../base/abort.ts";
import { type ChangeFlag, createChangeFlag } from "../../../base/change-flag.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files, Removals } from "../../../host/port.ts";
import type { ManifestObjects } from "../../cluster/refs/manifest-objects.ts";
import { createManifestFiles, type Scan } from "./manifest-files.ts";
import { createProblemLog, type ManifestProblem } from "./problem-log.ts";
import { createRestartOnChange } from "./restart-on-change.ts";
import { createSnapshotEmitter, type PodSourceLoop, type SnapshotListener } from "./source-snapshot.ts";

interface FileSourceDeps {
  clock: Clock;
  files: Pick<Files, "read" | "stat" | "list" | "watch" | "noteRemovals">;
  log: Log;
  emit: SnapshotListener;
  /** Is given the config maps and secrets beside the pods. Undefined: there may be none. */
  objects?: Pick<ManifestObjects, "take"> | undefined;
}

interface FileSourceOptions {
  /** `staticPodPath`: a directory of manifests or a single one. */
  path: string;
  nodeName: string;
  /** `fileCheckFrequency`: how often to look when no event came. Default 20 s. */
  checkFrequencyMs?: number;
  /** Take no pods from a file or directory that others than root may change. Default: they are warned of. */
  refusesForeign?: boolean;
  /** Leaves objects of other kinds than pods to others. Default: they are problems. */
  ignoresOtherKinds?: boolean;
}

/** Static pods from files, and what is wrong with these. */
export interface FileSource extends PodSourceLoop {
  /** What is wrong with the path and its files since they were last looked at. */
  problems(): readonly ManifestProblem[];
}

const DEFAULT_CHECK_FREQUENCY_MS = 20 * SECOND;
/** A burst of changes is read once it pauses, so that a file written in pieces is whole, or after the longer time. */
const SETTLE = { quietMs: 5, maxMs: 100 };

/**
 * Static pods from files: reads what is there, then again whenever the directory changes. Events are hints: the
 * periodic check finds what they miss. Only they tell of a file that is back when it is looked for: its pods begin anew.
 */
export function createFileSource(deps: FileSourceDeps, options: FileSourceOptions): FileSource {
  const { checkFrequencyMs = DEFAULT_CHECK_FREQUENCY_MS } = options;
  const path = resolve(options.path);
  const manifests = createManifestFiles(deps, { ...options, path, takesData: deps.objects !== undefined });
  const emit = createSnapshotEmitter("file", deps.emit);
  const remake = createRestartOnChange();
  /** Returns whether anything differs from the scan before. Objects are there before the pods that name them. */
  const offer = (scan: Exclude<Scan, { kind: "unreadable" }>): boolean => {
    const isPartial = scan.kind !== "missing" && scan.isPartial;
    const pods = remake({ ...scan, isPartial });
    const hasNewObjects =
      deps.objects?.take(
        scan.objects,
        pods.map(({ pod }) => pod),
      ) ?? false;
    return emit(pods, isPartial) || hasNewObjects;
  };
  return {
    problems: manifests.problems,
    async run(signal) {
      const changed = createChangeFlag(deps.clock);
      const watch = createWatch(deps, changed, signal);
      try {
        for (let wasTold = true; ; ) {
          const scan = await manifests.scan(watch.takeRemoved());
          const isNews = scan.kind !== "unreadable" && offer(scan);
          // No event came for the change: the path leads elsewhere (a changed link), and the watch is on the old place.
          if (isNews && !wasTold) watch.end();
          watch.follow(directoryToWatch(path, scan));
          wasTold = await changed.wait(checkFrequencyMs, signal);
          await changed.settle(SETTLE, signal);
        }
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        await watch.stop();
      }
    },
  };
}

/**
 * The directory whose events show a change: the path itself, or the parent of a file or of a path that does not exist.
 */
function directoryToWatch(path: string, scan: Scan): string {
  return scan.kind === "directory" || scan.kind === "unreadable" ? path : dirname(path);
}

interface DirectoryWatch {
  /** Watches this directory from now on; starts again where an earlier watch of it ended. */
  follow(directory: string): void;
  end(): void;
  /** Returns the paths that left the directory since this was called last. */
  takeRemoved(): ReadonlySet<string>;
  /** Ends the watch, and resolves when nothing is watched any more. */
  stop(): Promise<void>;
}

interface Watch {
  directory: string;
  removals?: Removals;
  end(): void;
}

function createWatch(deps: FileSourceDeps, changed: ChangeFlag, signal: AbortSignal): DirectoryWatch {
  const problems = createProblemLog(deps.log, "path");
  const running = new Set<Promise<void>>();
  let current: Watch | undefined;

  const noteRemovals = async (watch: Watch) => {
    try {
      watch.removals = await deps.files.noteRemovals(watch.directory);
    } catch (error) {
      const fields = { path: watch.directory, error: messageOf(error) };
      deps.log.debug("A manifest that is removed and put back at once will not be noticed", fields);
    }
  };
  const start = async (watch: Watch, ended: AbortSignal) => {
    const { directory } = watch;
    try {
      await noteRemovals(watch);
      const onChange = () => {
        problems.report(directory, undefined);
        changed.raise();
      };
      await deps.files.watch(directory, onChange, ended);
    } catch (error) {
      if (isAbort(error)) return;
      const fields = { error: messageOf(error) };
      problems.report(directory, {
        level: "warn",
        message: "Cannot watch for changes of pod manifests, checking periodically",
        fields,
      });
    } finally {
      watch.removals?.close();
    }
  };

  const end = () => {
    current?.end();
    current = undefined;
  };
  return {
    end,
    follow(directory) {
      if (current?.directory === directory || signal.aborted) return;
      end();
      const { controller, release } = childController(signal);
      const watch: Watch = { directory, end: () => controller.abort() };
      current = watch;
      const run = start(watch, controller.signal).finally(() => {
        release();
        running.delete(run);
        if (current === watch) current = undefined;
      });
      running.add(run);
    },
    takeRemoved() {
      const { directory, removals } = current ?? { directory: "" };
      return new Set([...(removals?.take() ?? [])].map((name) => join(directory, name)));
    },
    async stop() {
      end();
      await Promise.all(running);
    },
  };
}
