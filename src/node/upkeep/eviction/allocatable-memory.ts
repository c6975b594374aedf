import type { Cgroups } from "../../../host/cgroups-port.ts";

/** The memory that all pods may use together, and how much of it they cannot give back. Bytes. */
export interface AllocatableMemory {
  readonly limit: number;
  readonly workingSet: number;
}

/**
 * Reads it from the cgroup of all pods, whose path is undefined where it does not stand. The result is undefined there,
 * and where the cgroup has no limit.
 */
export async function readAllocatableMemory(
  cgroups: Pick<Cgroups, "read">,
  pathOfAllPods: string | undefined,
): Promise<AllocatableMemory | undefined> {
  const memory = pathOfAllPods === undefined ? undefined : (await cgroups.read(pathOfAllPods))?.memory;
  return memory?.limit === undefined ? undefined : { limit: memory.limit, workingSet: memory.workingSet };
}
