import { podUidOf } from "../../../resources/cgroups/cgroup-name.ts";

/**
 * The path of the pod's own cgroup, which holds those of its containers, from the path of one of them. Undefined where the
 * cgroup above a container is no pod's, as on a node where pods have none of their own.
 */
export function podCgroupOf(uid: string, containerPath: string): string | undefined {
  const path = containerPath.slice(0, containerPath.lastIndexOf("/"));
  const name = path.slice(path.lastIndexOf("/") + 1);
  const driver = name.endsWith(".slice") ? "systemd" : "cgroupfs";
  return podUidOf(name, driver) === uid ? path : undefined;
}
