import type { QosClass } from "../../../api/qos.ts";

/** The maker of cgroups on the machine: this process in the file system, or systemd, which calls them slices. */
export type CgroupDriver = "cgroupfs" | "systemd";

/**
 * The parts of a cgroup's name from the root on, which are the same for both drivers: `kubepods`, `burstable`,
 * `pod<uid>`.
 */
export type CgroupName = readonly string[];

const POD_PREFIX = "pod";
const SLICE = ".slice";
/** The name of the cgroup of all pods, beneath the configured root (upstream: node_container_manager_linux.go). */
const ALL_PODS = "kubepods";

/** Returns the name of a configured path, which is in the file system's form for both drivers. */
export function partsOf(path: string): CgroupName {
  return path.split("/").filter((part) => part !== "");
}

/** Reverses `cgroupPathOf`. The path is configured in the driver's form, or is a slice's name alone. */
export function partsOfDriverPath(path: string, driver: CgroupDriver): CgroupName {
  const last = partsOf(path).at(-1);
  if (driver === "cgroupfs" || last === undefined) return partsOf(path);
  const name = last.endsWith(SLICE) ? last.slice(0, -SLICE.length) : last;
  return name.split("-").map((part) => part.replaceAll("_", "-"));
}

/** Returns the name of the cgroup of all pods, beneath the configured root. */
export function nameOfAllPods(root: string): CgroupName {
  return [...partsOf(root), ALL_PODS];
}

/** Returns the name of a QoS class's cgroup; the cgroup of the guaranteed class is the one of all pods. */
export function nameOfClass(allPods: CgroupName, qosClass: QosClass): CgroupName {
  return qosClass === "Guaranteed" ? allPods : [...allPods, qosClass.toLowerCase()];
}

/** Returns the name of a pod's cgroup. Throws for a UID that cannot name a cgroup. */
export function nameOfPod(parent: CgroupName, uid: string): CgroupName {
  // Upstream refuses both characters: a "/" would lead elsewhere, and a "_" could not be told from the "-" of a slice's
  // name.
  if (uid === "" || /[/_]/.test(uid))
    throw new Error(`invalid character in component ["${POD_PREFIX}${uid}"] of CgroupName`);
  return [...parent, `${POD_PREFIX}${uid}`];
}

/** Returns the cgroup's path in the file system. The runtime is given the same path. */
export function cgroupPathOf(name: CgroupName, driver: CgroupDriver): string {
  if (driver === "cgroupfs" || name.length === 0) return `/${name.join("/")}`;
  // A slice's name repeats those of its parents: /a.slice/a-b.slice.
  const parts = name.map((part) => part.replaceAll("-", "_"));
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("-")}${SLICE}`).join("");
}

/** Returns the UID of the pod whose cgroup has this last part of a path; undefined for a cgroup that is no pod's. */
export function podUidOf(directory: string, driver: CgroupDriver): string | undefined {
  const isSlice = directory.endsWith(SLICE);
  if (isSlice !== (driver === "systemd")) return undefined;
  const last = isSlice ? (directory.slice(0, -SLICE.length).split("-").at(-1) ?? "").replaceAll("_", "-") : directory;
  const uid = last.startsWith(POD_PREFIX) ? last.slice(POD_PREFIX.length) : "";
  return uid === "" ? undefined : uid;
}

/** Formats the name as Go prints it with `%v`: `[kubepods burstable pod1]`. */
export function describeName(name: CgroupName): string {
  return `[${name.join(" ")}]`;
}

/** Formats the name as Go prints it with `%q`: `["kubepods" "burstable"]`. */
export function quoteName(name: CgroupName): string {
  return `[${name.map((part) => JSON.stringify(part)).join(" ")}]`;
}
