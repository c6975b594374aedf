import { codeOf } from "../../../base/errors.ts";
import type { GrownFileSystem, Mounts } from "../../mounts-port.ts";
import { mountError } from "./mount-calls.ts";
import { programError } from "./program-error.ts";
import { readDeviceFormat } from "./read-device-format.ts";
import type { ProgramEnd, RunMountProgram } from "./run-mount-program.ts";

/** The programs that make a file system as large as its device, by its type. They do nothing where it is that large. */
const PROGRAMS: Readonly<Record<string, (request: GrownFileSystem) => readonly [string, ...string[]]>> = {
  ext3: ({ source }) => ["resize2fs", source],
  ext4: ({ source }) => ["resize2fs", source],
  xfs: ({ target }) => ["xfs_growfs", "-d", target],
  btrfs: ({ target }) => ["btrfs", "filesystem", "resize", "max", target],
};

/** See `Mounts`. It does what upstream's `ResizeFs` does (k8s.io/mount-utils, resizefs_linux.go). */
export function createFileSystemGrowth(runProgram: RunMountProgram): Pick<Mounts, "growFileSystem"> {
  return {
    async growFileSystem(request, signal) {
      const { source, target, timeoutMs } = request;
      const operation = `grow the file system of '${source}' at`;
      refuseOptions(request, operation);
      const endsAt = performance.now() + timeoutMs;
      const run = async (name: string, args: readonly string[]): Promise<ProgramEnd> => {
        try {
          return await runProgram(name, args, { timeoutMs: Math.max(0, endsAt - performance.now()), signal });
        } catch (error) {
          if (codeOf(error) !== "ETIMEDOUT") throw error;
          const why = `${name} did not end within ${timeoutMs} ms`;
          throw mountError("ETIMEDOUT", { operation, path: target, why }, error);
        }
      };
      const format = await readDeviceFormat(source, run);
      // Whoever formats it takes all of the device.
      if (format === "" || (await isReadOnly(source, run))) return;
      const [program, ...args] = PROGRAMS[format]?.(request) ?? [];
      if (program === undefined) {
        const why = `it holds ${format}: only ${Object.keys(PROGRAMS).join(", ")} can grow`;
        throw mountError("EOPNOTSUPP", { operation, path: target, why });
      }
      const end = await run(program, args);
      if (end.code !== 0) throw programError(end, { operation, path: target, program });
    },
  };
}

async function isReadOnly(
  source: string,
  run: (name: string, args: readonly string[]) => Promise<ProgramEnd>,
): Promise<boolean> {
  const end = await run("blockdev", ["--getro", source]);
  if (end.code !== 0) throw programError(end, { operation: "look at", path: source, program: "blockdev" });
  return end.stdout.trim() === "1";
}

/** No argument may look like an option. */
function refuseOptions({ source, target }: GrownFileSystem, operation: string): void {
  for (const path of [source, target]) {
    if (!path.startsWith("/")) throw mountError("EINVAL", { operation, path: target, why: `odd path '${path}'` });
  }
}
