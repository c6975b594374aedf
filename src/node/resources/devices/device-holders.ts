import { type DeviceAssignments, listDeviceIds } from "./device-assignments.ts";

/** Whose devices count: those that the containers have, and those that become free for them. */
export interface DeviceHolders {
  readonly podUid: string;
  readonly containers: readonly string[];
  /** The containers of the pod that are done before those start. */
  readonly predecessors: readonly string[];
}

type Assignments = Pick<DeviceAssignments, "list">;

/** The devices of the resource that the containers have; sorted. */
export function listDevicesOf(assignments: Assignments, holders: DeviceHolders, resource: string): string[] {
  return listIds(assignments, holders, resource, (name) => holders.containers.includes(name));
}

/**
 * The devices of containers that are done, without those that another one of the pod has got meanwhile, because it runs beside
 * this one; sorted. Upstream forgets them as soon as one that is no init container has taken them.
 */
export function listReusableDevices(assignments: Assignments, holders: DeviceHolders, resource: string): string[] {
  const isDone = (name: string) => holders.predecessors.includes(name);
  const isOther = (name: string) => !isDone(name) && !holders.containers.includes(name);
  const taken = new Set(listIds(assignments, holders, resource, isOther));
  return listIds(assignments, holders, resource, isDone).filter((id) => !taken.has(id));
}

function listIds(
  assignments: Assignments,
  { podUid }: DeviceHolders,
  resource: string,
  isCounted: (container: string) => boolean,
): string[] {
  const counted = assignments
    .list()
    .filter((each) => each.podUid === podUid && each.resource === resource && isCounted(each.container));
  return [...new Set(counted.flatMap(({ devices }) => listDeviceIds(devices)))].sort();
}
