import { SECOND } from "../../../base/clock.ts";
import type { HangGuard } from "../../../base/hang-guard.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { Files } from "../../../host/port.ts";

/** A server answers within this, or its pod hears that it does not. */
const ANSWER_TIMEOUT_MS = 30 * SECOND;
/** Millions of files are walked through, each of which has to answer. */
const WALK_TIMEOUT_MS = 3_600 * SECOND;

/** What of the machine touches volumes that others may provide. */
export interface Storage {
  readonly files: Files;
  readonly mounts: Mounts;
}

/**
 * The same files and mounts, for paths that may lead to servers that do not answer: a call then rejects in time, and those
 * that hang are kept from taking all the places that this process has for accesses of files. What a path leads to cannot
 * be told without asking, so that every volume that is not our own is looked at this way.
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
