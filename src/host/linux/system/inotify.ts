// It has another name here, because the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";
import { getSystemErrorName } from "node:util";
import { CodedError } from "../../../base/errors.ts";

/** The calls of inotify(7) that Node.js does not offer: a queue of one's own, with any mask. */
interface Inotify {
  /** Returns the descriptor of a new queue. A read of it never waits: it is `EAGAIN` when there is no event. */
  init(): number;
  /**
   * Watches a path. The call runs on a thread of the pool, because a file server may let it wait. Rejects with the
   * kernel's code.
   */
  add(queue: number, path: string, mask: number): Promise<void>;
}

const IN_CLOEXEC_NONBLOCK = 0o2004000;

let loaded: Inotify | undefined;

/** Loads the calls once. Throws where the native part of koffi cannot be loaded. */
export function loadInotify(): Inotify {
  if (loaded !== undefined) return loaded;
  const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
  const library = koffi.load(null);
  const init = library.func("int inotify_init1(int flags)");
  const add = library.func("int inotify_add_watch(int fd, const char *path, unsigned int mask)");
  const fail = (call: string) => {
    const code = getSystemErrorName(-koffi.errno());
    return new CodedError(code, `${code}: ${call}`);
  };
  loaded = {
    init() {
      const queue = Number(init(IN_CLOEXEC_NONBLOCK));
      if (queue < 0) throw fail("inotify_init1");
      return queue;
    },
    add: async (queue, path, mask) =>
      await new Promise<void>((resolve, reject) => {
        add.async(queue, path, mask, (error: Error | null, watch: number) => {
          if (error !== null) reject(error);
          else if (watch < 0) reject(fail(`inotify_add_watch '${path}'`));
          else resolve();
        });
      }),
  };
  return loaded;
}
