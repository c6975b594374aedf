import { codeOf } from "../../../base/errors.ts";
import type { FileSystemMount, Mounts } from "../../mounts-port.ts";
import { openPlace, withPlace } from "./held-place.ts";
import { mountError } from "./mount-calls.ts";
import { programError } from "./program-error.ts";
import { readDeviceFormat } from "./read-device-format.ts";
import type { ProgramEnd, RunMountProgram } from "./run-mount-program.ts";

/** One request with the time that is left for all its programs. */
interface Run {
  readonly runProgram: RunMountProgram;
  readonly request: FileSystemMount;
  readonly signal: AbortSignal | undefined;
  readonly endsAt: number;
}

/** See `Mounts`. */
export function createFileSystemMounts(
  runProgram: RunMountProgram,
): Pick<Mounts, "mountFileSystem" | "formatAndMount"> {
  const begin = (request: FileSystemMount, signal: AbortSignal | undefined): Run => {
    return { runProgram, request, signal, endsAt: performance.now() + request.timeoutMs };
  };
  return {
    async mountFileSystem(request, signal) {
      await refuseOdd(request);
      await mount(begin(request, signal));
    },
    async formatAndMount(request, signal) {
      await refuseOdd(request);
      await formatAndMount(begin(request, signal));
    },
  };
}

/**
 * Does what upstream's `formatAndMountSensitive` does (k8s.io/mount-utils, mount_linux.go), but refuses a file system
 * of another type, which upstream tries to mount nevertheless.
 */
async function formatAndMount(run: Run): Promise<void> {
  const { source, target, type, options } = run.request;
  const readOnly = options.includes("ro");
  const what = { operation: `mount '${source}' at`, path: target };
  const held = await readDeviceFormat(source, async (name, args) => await start(run, name, args));
  if (held === "" && readOnly) {
    const why = `cannot mount unformatted disk ${source} as we are manipulating it in read-only mode`;
    throw mountError("EINVAL", { ...what, why });
  }
  if (held !== "" && held !== type) throw mountError("EINVAL", { ...what, why: `it holds ${held}, not ${type}` });
  if (held === "") await format(run);
  else if (!readOnly) await check(run);
  await mount(run);
}

async function mount(run: Run): Promise<void> {
  const { source, target, type, options } = run.request;
  const args = ["-t", type, ...(options.length === 0 ? [] : ["-o", options.join(",")]), "--", source, target];
  const end = await start(run, "mount", args);
  if (end.code !== 0) {
    throw programError(end, { operation: `mount '${source}' at`, path: target, program: "mount" });
  }
}

async function format(run: Run): Promise<void> {
  const { source, type } = run.request;
  // mkfs is forced, because it would ask. No blocks are kept for root, who needs none on a volume.
  const flags = type === "ext3" || type === "ext4" ? ["-F", "-m0"] : type === "xfs" ? ["-f"] : [];
  const end = await start(run, `mkfs.${type}`, [...flags, source]);
  if (end.code !== 0) throw programError(end, { operation: "format", path: source, program: `mkfs.${type}` });
}

/**
 * fsck's exit code for errors that it left uncorrected. A higher code means that fsck could not do its work; mount then
 * decides.
 */
const ERRORS_UNCORRECTED = 4;

async function check(run: Run): Promise<void> {
  const { source } = run.request;
  let end: ProgramEnd;
  try {
    end = await start(run, "fsck", ["-a", source]);
  } catch (error) {
    // A machine without fsck mounts unchecked, as upstream does.
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (end.code !== ERRORS_UNCORRECTED) return;
  const why = `'fsck' found errors on device ${source} but could not correct them: ${end.stdout}`;
  throw mountError("EUCLEAN", { operation: "check", path: source, why });
}

async function start(run: Run, name: string, args: readonly string[]): Promise<ProgramEnd> {
  const { runProgram, request, signal, endsAt } = run;
  const timeoutMs = Math.max(0, endsAt - performance.now());
  try {
    return await runProgram(name, args, { timeoutMs, signal });
  } catch (error) {
    if (codeOf(error) !== "ETIMEDOUT") throw error;
    const why = `${name} did not end within ${request.timeoutMs} ms`;
    throw mountError("ETIMEDOUT", { operation: `mount '${request.source}' at`, path: request.target, why }, error);
  }
}

/** The type is part of a program's name, and no argument may look like an option. */
async function refuseOdd({ source, target, type }: FileSystemMount): Promise<void> {
  const what = { operation: `mount '${source}' at`, path: target };
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(type)) throw mountError("EINVAL", { ...what, why: `odd type '${type}'` });
  if (source === "" || source.startsWith("-")) throw mountError("EINVAL", { ...what, why: "odd source" });
  await withPlace(target, what.operation, async (place) => {
    const there = await openPlace(place);
    if (there === undefined) throw mountError("ENOENT", what);
    try {
      const status = await there.stat();
      if (status.isSymbolicLink()) throw mountError("ELOOP", what);
      if (!status.isDirectory()) throw mountError("ENOTDIR", what);
    } finally {
      await there.close();
    }
  });
}
