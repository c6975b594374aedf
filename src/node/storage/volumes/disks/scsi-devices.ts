import { posix } from "node:path";
import { codeOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { DirectoryEntry, Files } from "../../../../host/port.ts";
import type { Programs } from "../../../../host/programs-port.ts";
import { callProgram } from "./call-program.ts";

/**
 * The machine's disks as the kernel shows them in sysfs, and device mapper's multipath devices over them
 * (pkg/volume/util/device_util_linux.go). Names are those of the kernel: `sdb`, `dm-0`.
 */
export interface ScsiDevices {
  /** The kernel's name of the device that the path leads to, by links; undefined where there is no such device. */
  nameAt(path: string): Promise<string | undefined>;
  /** The multipath device over the disk; undefined where there is none. */
  multipathOf(name: string): Promise<string | undefined>;
  /** The disks beneath a multipath device. */
  pathsOf(multipath: string): Promise<readonly string[]>;
  /** Has the host look for disks: `0 0 3` is one disk, `- - -` are all. */
  scan(host: string, what: string): Promise<void>;
  /** The device's number, as the mount table has it: `8:16`. */
  numberOf(name: string): Promise<string | undefined>;
  /** Writes what the kernel holds of a multipath device to its disks, and takes the device away. Rejects where it is used. */
  flushMultipath(name: string): Promise<void>;
  /** Writes what the kernel holds for the disk to it. */
  flush(name: string): Promise<void>;
  /** Takes the disk away from the kernel. */
  remove(name: string): Promise<void>;
}

export interface ScsiDevicesDeps {
  readonly files: Pick<Files, "append" | "list" | "read" | "readLink" | "stat">;
  readonly programs: Pick<Programs, "run">;
  readonly log: Log;
}

const BLOCK = "/sys/block";
/** Attributes of sysfs are a page at most. */
const MAX_ATTRIBUTE_BYTES = 4096;
const MAX_LINKS = 8;

export function createScsiDevices(deps: ScsiDevicesDeps): ScsiDevices {
  const { files, log } = deps;

  const nameAt = async (path: string): Promise<string | undefined> => {
    let place = path;
    for (let links = 0; links < MAX_LINKS; links++) {
      const target = await files.readLink(place);
      if (target === undefined) {
        const isThere = (await files.stat(place)) !== undefined;
        return isThere && posix.dirname(place) === "/dev" ? posix.basename(place) : undefined;
      }
      place = posix.resolve(posix.dirname(place), target);
    }
    return undefined;
  };

  /** Devices of other kinds may lie over a disk too: volume groups that the machine found on it are not the disk. */
  const isMultipath = async (name: string) => {
    return (await readAttribute(files, `${BLOCK}/${name}/dm/uuid`))?.startsWith("mpath-") === true;
  };

  return {
    nameAt,
    async multipathOf(disk) {
      if (disk.startsWith("dm-")) return disk;
      for (const { name } of await listIfThere(files, BLOCK)) {
        if (!name.startsWith("dm-") || (await files.stat(`${BLOCK}/${name}/slaves/${disk}`)) === undefined) continue;
        if (await isMultipath(name)) return name;
      }
      return undefined;
    },
    pathsOf: async (multipath) => (await listIfThere(files, `${BLOCK}/${multipath}/slaves`)).map(({ name }) => name),
    scan: async (host, what) => await files.append(`/sys/class/scsi_host/${host}/scan`, what, 0o200),
    numberOf: async (name) => await readAttribute(files, `${BLOCK}/${name}/dev`),
    flushMultipath: async (name) => {
      await callProgram(deps, { path: "multipath", args: ["-f", `/dev/${name}`] });
    },
    async flush(name) {
      const run = { path: "blockdev", args: ["--flushbufs", `/dev/${name}`] };
      await callProgram(deps, run).catch((error: unknown) => {
        log.warn("a disk cannot be flushed", { device: name, error: String(error) });
      });
    },
    async remove(name) {
      const path = `${BLOCK}/${name}/device/delete`;
      if ((await files.stat(path)) === undefined) return;
      await files.append(path, "1", 0o200);
    },
  };
}

/** The text of an attribute; undefined where there is none, which may be so from one moment to the next. */
export async function readAttribute(files: Pick<Files, "read">, path: string): Promise<string | undefined> {
  try {
    return (await files.read(path, MAX_ATTRIBUTE_BYTES)).toString().trim();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** The directory's entries; none where there is no directory. */
export async function listIfThere(files: Pick<Files, "list">, path: string): Promise<readonly DirectoryEntry[]> {
  try {
    return await files.list(path);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** What is read of a device that is being taken away fails with one of these. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ENODEV", "ENXIO", "EINVAL"].includes(codeOf(error) ?? "");
}
