import koffi from "koffi";
import { createLimiter } from "../../../base/limiter.ts";
import { descriptorPath } from "./held-place.ts";
import { codeOfErrno, type MountCall, type MountCalls, mountError, type UnmountCall } from "./mount-calls.ts";

/** The library takes 256 calls at once and throws for more. A few are as fast as many. */
const MAX_CALLS = 16;
const UMOUNT_NOFOLLOW = 0x8;

type Answer = (error: Error | null, result: number) => void;

/**
 * The C library's functions, called in this process. A mount takes microseconds, where a process for it takes ten
 * milliseconds. The calls run on a thread of the pool. This module throws when it is loaded on a platform that it has
 * no native part for.
 */
export function createLibraryMountCalls(): MountCalls {
  // The symbols are looked up in this process itself, so that the file name of the C library does not matter.
  const library = koffi.load(null);
  const mount = library.func(
    "int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)",
  );
  const unmount = library.func("int umount2(const char *target, int flags)");
  const limiter = createLimiter(MAX_CALLS);

  /** Resolves with errno; 0 on success. */
  const call = async (start: (answer: Answer) => void): Promise<number> => {
    return await limiter.run(async () => {
      return await new Promise<number>((resolve, reject) => {
        start((error, result) => {
          // errno is read at once, because any other call changes it.
          const errno = koffi.errno();
          if (error) reject(error);
          else resolve(result === 0 ? 0 : errno);
        });
      });
    });
  };

  return {
    async mount({ operation, path, source, target, type, flags, data }: MountCall) {
      const from = typeof source === "string" ? source : descriptorPath(source);
      const errno = await call((answer) => {
        mount.async(from, descriptorPath(target), type === "" ? null : type, flags, data === "" ? null : data, answer);
      });
      if (errno !== 0) throw mountError(codeOfErrno(errno), { operation, path });
    },
    async unmount({ parent, name, path }: UnmountCall) {
      const errno = await call((answer) => unmount.async(`${descriptorPath(parent)}/${name}`, UMOUNT_NOFOLLOW, answer));
      if (errno !== 0) throw mountError(codeOfErrno(errno), { operation: "unmount", path });
    },
  };
}
