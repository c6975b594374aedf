import { endianness } from "node:os";
import type { Files, MachineIdentity } from "../../port.ts";

/** The first file that can be read counts, in upstream's order (cadvisor: machine/info.go, utils/sysfs/sysfs.go). */
const MACHINE_ID_PATHS = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
const SYSTEM_UUID_PATHS = [
  "/sys/class/dmi/id/product_uuid",
  "/proc/device-tree/system-id",
  "/proc/device-tree/vm,uuid",
  ...MACHINE_ID_PATHS,
];
const OS_RELEASE_PATHS = ["/etc/os-release", "/usr/lib/os-release"];
const BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id";
const MAX_BYTES = 64 * 1024;

/** Go's names of processors, where Node.js has others. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  ia32: "386",
  loong64: "loong64",
  mipsel: "mipsle",
  ppc64: endianness() === "LE" ? "ppc64le" : "ppc64",
  x64: "amd64",
};

/** Reads the files that exist. A file that is missing or may not be read leaves its field at the fallback. */
export async function readMachineIdentity(files: Pick<Files, "read">, kernelRelease: string): Promise<MachineIdentity> {
  const [machineId, systemUuid, bootId, osRelease] = await Promise.all([
    readFirst(files, MACHINE_ID_PATHS),
    readFirst(files, SYSTEM_UUID_PATHS),
    readFirst(files, [BOOT_ID_PATH]),
    readFirst(files, OS_RELEASE_PATHS),
  ]);
  return {
    machineId,
    systemUuid,
    bootId,
    kernelRelease,
    osImage: osRelease === "" ? "Unknown" : readPrettyName(osRelease),
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
  };
}

async function readFirst(files: Pick<Files, "read">, paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const data = await files.read(path, MAX_BYTES).catch(() => undefined);
    // Device tree properties end with a NUL.
    const text = data?.toString("utf8").replaceAll("\0", "").trim() ?? "";
    if (text !== "") return text;
  }
  return "";
}

/**
 * os-release is a list of shell assignments. The value may be in quotes, with backslashes before special characters.
 */
function readPrettyName(osRelease: string): string {
  const value = /^\s*PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1]?.trim() ?? "";
  const quoted = /^(["'])(.*)\1$/.exec(value);
  const name = quoted?.[1] === "'" ? quoted[2] : (quoted?.[2] ?? value).replaceAll(/\\(["$`\\])/g, "$1");
  return name === undefined || name === "" ? "Linux" : name;
}
