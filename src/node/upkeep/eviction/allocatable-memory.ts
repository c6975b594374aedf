import type { Cgroups } from "../../../host/cgroups-port.ts";

/**
 * The memory that all pods may use together (`limit`), what they use, and the part of it that they cannot give back
 * (`workingSet`), in bytes.
 */
export interface AllocatableMemory {
  readonly limit: number;
  readonly usage: number;
  readonly workingSet: number;
}

/**
 * Reads the cgroup of all pods. `pathOfAllPods` is undefined where that cgroup does not exist. The result is then
 * undefined too, and also where the cgroup has no limit.
 */
export async function readAllocatableMemory(
  cgroups: Pick<Cgroups, "read">,
  pathOfAllPods: string | undefined,
): Promise<AllocatableMemory | undefined> {
  const memory = pathOfAllPods === undefined ? undefined : (await cgroups.read(pathOfAllPods))?.memory;
  if (memory?.limit === undefined) return undefined;
  const { limit, usage, workingSet } = memory;
  return { limit, usage, workingSet };
}
