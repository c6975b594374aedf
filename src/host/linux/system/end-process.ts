// By another name: the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";

/**
 * Ends this process with the exit code, whatever its threads wait for, and runs nothing else: what was to be written has to
 * be written. `process.exit` waits first for the threads that files are read on, and one that asks a file server which is
 * away is never done.
 */
export function endProcess(code: number): void {
  try {
    // Now, and not as a module of this one: most processes end without it, and this may be no time to wait for anything.
    const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
    koffi.load(null).func("void _exit(int code)")(code);
  } catch {
    // Without its native part the process ends as well, and with another code.
    process.kill(process.pid, "SIGKILL");
  }
}
