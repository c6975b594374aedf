import { open } from "node:fs";
import { promisify } from "node:util";

/**
 * Opens on a thread of the pool, and returns the bare descriptor. Whoever opens a directory, or a name without opening it
 * (`O_PATH`), may close it at once (`closeSync`): the kernel has nothing to write for it. A FileHandle's close waits for a
 * thread.
 */
export const openDescriptor: (path: string | Buffer, flags: number) => Promise<number> = promisify(open);
