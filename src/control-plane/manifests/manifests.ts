import { isApiError } from "../../api/api-error.ts";
import { childController, isAbort } from "../../base/abort.ts";
import { computeBackOff } from "../../base/back-off.ts";
import { createChangeFlag } from "../../base/change-flag.ts";
import { SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Files } from "../../host/port.ts";
import type { Controller, ControllerDeps } from "../control-loop/controller.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import type { ResourceApplier } from "../ports/resources.ts";
import { createManifestDirectory } from "./manifest-directory.ts";
import { type SyncDeps, syncManifests } from "./sync-manifests.ts";

/** Where manifests are read from. */
export interface ManifestsOptions {
  /** The directory; absolute. */
  readonly path: string;
  /** Take nothing from files that others than root may change. */
  readonly refusesForeign: boolean;
}

/** The access to files that manifests need. */
export type ManifestFiles = Pick<Files, "list" | "stat" | "read" | "watch">;

interface ManifestsDeps extends ControllerDeps {
  applier: ResourceApplier;
  files: ManifestFiles;
}

const COMPONENT = "nodelet-manifests";
/** A look at the directory when nobody told of a change, as for static pods. */
const CHECK_MS = 20 * SECOND;
const RETRY = { initialMs: SECOND, maxMs: 60 * SECOND };
/** A burst of changes is read once it pauses. */
const SETTLE = { quietMs: 20, maxMs: 500 };

/**
 * Keeps the cluster in line with a directory of manifests: objects of every kind but pods are applied when a file
 * changes, and deleted when no file has them any more. One pass at a time; what failed is tried again.
 */
export function createManifests(deps: ManifestsDeps, options: ManifestsOptions): Controller {
  const { clock, files, log } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const sync: SyncDeps = { ...deps, events, done: new Map() };
  const directory = createManifestDirectory(files, options);
  const changed = createChangeFlag(clock);
  let failures = 0;
  let lastProblem: string | undefined;

  /** One pass. An error of the API is a failed pass, as with other controllers. */
  const pass = async (signal: AbortSignal): Promise<boolean> => {
    const found = await directory.read();
    if ("problem" in found) {
      if (found.problem !== lastProblem) {
        log.warn("the manifests cannot be read, and what they gave stays", {
          path: options.path,
          error: found.problem,
        });
      }
      lastProblem = found.problem;
      return true;
    }
    lastProblem = undefined;
    try {
      return await syncManifests(sync, found, signal);
    } catch (error) {
      if (!isApiError(error)) throw error;
      log.warn("the manifests could not be applied, trying again", { error: messageOf(error) });
      return false;
    }
  };
  const loop = async (signal: AbortSignal) => {
    for (;;) {
      failures = (await pass(signal)) ? 0 : failures + 1;
      const waitMs = failures === 0 ? CHECK_MS : Math.min(CHECK_MS, computeBackOff(failures, RETRY));
      if (await changed.wait(waitMs, signal)) failures = 0;
      await changed.settle(SETTLE, signal);
    }
  };
  return {
    async run(signal) {
      const { controller, release } = childController(signal);
      const watched = watch(deps, options.path, { onChange: changed.raise, signal: controller.signal });
      try {
        await loop(signal);
      } catch (error) {
        if (!isAbort(error) && !signal.aborted) throw error;
      } finally {
        release();
        controller.abort();
        await watched;
        await events.settled();
      }
    },
  };
}

/** Tells of changes until the signal fires. Without it, and after it ended, the directory is looked at periodically. */
async function watch(
  { files, log }: ManifestsDeps,
  path: string,
  { onChange, signal }: { onChange: () => void; signal: AbortSignal },
): Promise<void> {
  try {
    await files.watch(path, onChange, signal);
  } catch (error) {
    if (isAbort(error)) return;
    log.warn("changes of manifests are not watched, checking periodically", { path, error: messageOf(error) });
  }
}
