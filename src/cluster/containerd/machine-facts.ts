import { access, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { readMountTable } from "../../host/linux/mounts/mount-table.ts";
import { readDefaultInterface } from "../../host/linux/network/default-route.ts";
import { computeSearchPath } from "../../host/linux/system/search-path.ts";
import { findMountOf } from "./mount-info.ts";

const CAP_SYS_RESOURCE = 24n;
/** The directories of Debian, of upstream and of Fedora. */
const CNI_BIN_DIRECTORIES = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
const REQUIRED_PLUGINS = ["bridge", "host-local", "portmap", "loopback"];

/** Tells whether a `/proc/<pid>/status` text has CAP_SYS_RESOURCE among the effective capabilities. */
export function hasSysResource(status: string): boolean {
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}

/** Tells whether this process has CAP_SYS_RESOURCE. */
export async function readHasSysResource(): Promise<boolean> {
  return hasSysResource(await readFile("/proc/self/status", "utf8"));
}

/** Finds the first directory that holds every needed CNI plugin; undefined when there is none. */
export async function findCniBinDirectory(): Promise<string | undefined> {
  for (const directory of CNI_BIN_DIRECTORIES) {
    const present = await Promise.all(REQUIRED_PLUGINS.map((plugin) => exists(join(directory, plugin))));
    if (present.every(Boolean)) return directory;
  }
  return undefined;
}

/** Does the same as `findCniBinDirectory`, but rejects with `cni-plugins-missing` when there is none. */
export async function readCniBinDirectory(): Promise<string> {
  const directory = await findCniBinDirectory();
  if (directory !== undefined) return directory;
  const wanted = `${REQUIRED_PLUGINS.join(", ")} in one of ${CNI_BIN_DIRECTORIES.join(", ")}`;
  throw new CodedError("cni-plugins-missing", `no CNI plugins (${wanted}): install containernetworking-plugins`);
}

/** Chooses the snapshotter. overlayfs cannot lie on overlayfs, which is the file system of a container's own root. */
export async function readSnapshotter(directory: string): Promise<"overlayfs" | "native"> {
  const mounts = await readMountTable();
  return findMountOf(mounts, directory)?.type === "overlay" ? "native" : "overlayfs";
}

/** Reads the MTU of the interface that the default route leaves by, in bytes; undefined without one. */
export async function readDefaultMtu(): Promise<number | undefined> {
  const name = await readDefaultInterface(async (path) => await readFile(path, "latin1").catch(() => ""));
  if (name === undefined) return undefined;
  const mtu = Number(await readFile(`/sys/class/net/${name}/mtu`, "latin1").catch(() => ""));
  return mtu > 0 ? mtu : undefined;
}

/** Finds the absolute path of a program: `name` itself when it is a path, else the first match on the search path. */
export async function findProgram(name: string): Promise<string | undefined> {
  if (name.includes("/")) return (await exists(name)) ? name : undefined;
  for (const directory of computeSearchPath(process.env["PATH"]).split(delimiter)) {
    if (directory !== "" && (await exists(join(directory, name)))) return join(directory, name);
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
