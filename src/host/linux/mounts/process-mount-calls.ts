import { MOUNT_FLAGS, type MountCall, type MountCalls, MS_BIND, MS_REC, MS_REMOUNT, MS_SLAVE } from "./mount-calls.ts";
import { programError } from "./program-error.ts";
import type { RunMountProgram } from "./run-mount-program.ts";

const MOUNT_TIMEOUT_MS = 30_000;

/**
 * mount(8) and umount(8). They inherit the descriptors and look up no name again (`--no-canonicalize`). They serve
 * platforms on which the C library cannot be called, and unmounts of file systems of another machine: a process that
 * hangs there holds none of this process's threads. Before the call a link in the place of the mount was refused;
 * umount(8) itself would follow one that was put there since.
 */
export function createProcessMountCalls(run: RunMountProgram): MountCalls {
  return {
    async mount({ operation, path, source, target, type, flags, data }: MountCall) {
      const isOpen = typeof source !== "string";
      const descriptors = isOpen ? [target.fd, source.fd] : [target.fd];
      const what = [...describeChange(flags, isOpen), ...(type === "" ? [] : ["-t", type])];
      const options = [...optionsOf(flags), ...(data === "" ? [] : [data])].join(",");
      const args = [
        "--no-canonicalize",
        ...what,
        ...(options === "" ? [] : ["-o", options]),
        "--",
        ...(isOpen ? ["/proc/self/fd/4"] : source === "" ? [] : [source]),
        "/proc/self/fd/3",
      ];
      const end = await run("mount", args, { timeoutMs: MOUNT_TIMEOUT_MS, descriptors });
      if (end.code !== 0) throw programError(end, { operation, path, program: "mount" });
    },
    async unmount({ parent, name, path, timeoutMs }) {
      const args = ["--no-canonicalize", "--", `/proc/self/fd/3/${name}`];
      const end = await run("umount", args, { timeoutMs, descriptors: [parent.fd] });
      if (end.code !== 0) throw programError(end, { operation: "unmount", path, program: "umount" });
    },
  };
}

/** The flags that are no options: a bind, or a change of how mounts below are shared. */
function describeChange(flags: number, isOpen: boolean): string[] {
  if ((flags & MS_SLAVE) !== 0) return ["--make-rslave"];
  if ((flags & MS_BIND) === 0 || !isOpen) return [];
  return [(flags & MS_REC) === 0 ? "--bind" : "--rbind"];
}

function optionsOf(flags: number): string[] {
  const own = [...MOUNT_FLAGS].filter(([, flag]) => (flags & flag) !== 0).map(([option]) => option);
  return (flags & MS_REMOUNT) === 0 ? own : ["remount", "bind", ...own];
}
