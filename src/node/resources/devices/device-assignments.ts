import type { DeviceResponse } from "../../../device-plugin/port.ts";

/** The NUMA node under which upstream lists the devices that are close to none. */
export const NO_NUMA_NODE = -1;

/** The devices of one resource that a container has, by the NUMA nodes that they are close to. */
export interface AssignedDevices {
  readonly idsByNumaNode: ReadonlyMap<number, readonly string[]>;
  /** The plugin's answer, which the container is made with each time that it starts. */
  readonly response: DeviceResponse;
}

/** One line of the account: who has what. */
export interface DeviceAssignment {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
  readonly devices: AssignedDevices;
}

/** Which containers have which devices. It is the only account of them; the checkpoint is its copy on the disk. */
export interface DeviceAssignments {
  assign(assignment: DeviceAssignment): void;
  /** The container's devices, by resource. */
  ofContainer(podUid: string, container: string): ReadonlyMap<string, AssignedDevices>;
  /** The IDs of all devices of the resource that some container has. */
  inUse(resource: string): Set<string>;
  /** The pods that have one of these devices. */
  podsWith(resource: string, deviceIds: ReadonlySet<string>): string[];
  /** The resources of which some container has devices. */
  resources(): Set<string>;
  release(podUid: string): void;
  /** Releases all pods but these. */
  releaseOthers(keep: ReadonlySet<string>): void;
  list(): DeviceAssignment[];
}

type OfContainer = Map<string, AssignedDevices>;

export function createDeviceAssignments(): DeviceAssignments {
  const pods = new Map<string, Map<string, OfContainer>>();
  const list = () =>
    [...pods].flatMap(([podUid, containers]) =>
      [...containers].flatMap(([container, resources]) =>
        [...resources].map(([resource, devices]) => ({ podUid, container, resource, devices })),
      ),
    );
  return {
    assign({ podUid, container, resource, devices }) {
      const ofPod = pods.get(podUid) ?? new Map<string, OfContainer>();
      const ofContainer = ofPod.get(container) ?? new Map<string, AssignedDevices>();
      pods.set(podUid, ofPod.set(container, ofContainer.set(resource, devices)));
    },
    ofContainer: (podUid, container) => pods.get(podUid)?.get(container) ?? new Map(),
    inUse: (wanted) =>
      new Set(list().flatMap(({ resource, devices }) => (resource === wanted ? listDeviceIds(devices) : []))),
    podsWith(wanted, deviceIds) {
      const having = list().filter(
        ({ resource, devices }) => resource === wanted && listDeviceIds(devices).some((id) => deviceIds.has(id)),
      );
      return [...new Set(having.map(({ podUid }) => podUid))];
    },
    resources: () => new Set(list().map(({ resource }) => resource)),
    release: (podUid) => pods.delete(podUid),
    releaseOthers(keep) {
      for (const podUid of [...pods.keys()]) if (!keep.has(podUid)) pods.delete(podUid);
    },
    list,
  };
}

/** The IDs without repetition; a device that is close to several NUMA nodes is listed under each of them. */
export function listDeviceIds({ idsByNumaNode }: AssignedDevices): string[] {
  return [...new Set([...idsByNumaNode.values()].flat())];
}
