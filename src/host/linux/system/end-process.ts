// It has another name here, because the bundles begin with a `createRequire` of their own.
import { createRequire as requireFrom } from "node:module";

/**
 * Ends this process with the exit code, whatever its threads wait for, and runs nothing else. All output must be
 * written before. `process.exit` first waits for the threads that read files, and a thread that waits for a file server
 * which is away never ends.
 */
export function endProcess(code: number): void {
  try {
    // The module is loaded now and not imported: most processes end without it, and this may be no time to wait for
    // anything.
    const koffi: typeof import("koffi") = requireFrom(import.meta.url)("koffi");
    koffi.load(null).func("void _exit(int code)")(code);
  } catch {
    // Without koffi's native part the process ends as well, and with another code.
    process.kill(process.pid, "SIGKILL");
  }
}
