import { SECOND } from "../../../base/clock.ts";
import type { HangGuard } from "../../../base/hang-guard.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { Files } from "../../../host/port.ts";

/** A server that takes longer than this to answer is given up, and its pod is told. */
const ANSWER_TIMEOUT_MS = 30 * SECOND;
/** A walk may have to ask for millions of files. */
const WALK_TIMEOUT_MS = 3_600 * SECOND;

/** The parts of the machine that touch volumes which others may provide. */
export interface Storage {
  readonly files: Files;
  readonly mounts: Mounts;
}

/**
 * Wraps files and mounts for paths that may lead to servers that do not answer. A call then rejects in time, and calls
 * that hang cannot take all the threads that this process has for file accesses. Nobody can tell where a path leads
 * without accessing it, so every volume that is not our own is accessed this way.
 */
export function guardStorage({ files, mounts }: Storage, guard: Pick<HangGuard, "run">): Storage {
  const answer = async <T>(path: string, call: () => Promise<T>) => await guard.run(path, ANSWER_TIMEOUT_MS, call);
  return {
    files: {
      ...files,
      stat: async (path) => await answer(path, async () => await files.stat(path)),
      makeDirectory: async (path, mode) => await answer(path, async () => await files.makeDirectory(path, mode)),
      touch: async (path, mode) => await answer(path, async () => await files.touch(path, mode)),
      changeGroup: async (path, options, signal) =>
        await guard.run(path, WALK_TIMEOUT_MS, async () => await files.changeGroup(path, options, signal)),
    },
    mounts: {
      ...mounts,
      bind: async (source, target, options) =>
        await answer(source, async () => await mounts.bind(source, target, options)),
      bindBeneath: async (request) => await answer(request.root, async () => await mounts.bindBeneath(request)),
    },
  };
}
