import type { Device, ResourceSlice, ResourceSliceSpec } from "../../../api/gen/types.ts";
import { matchesAnyTerm, type SelectableNode } from "../../../api/selectors/node-selector.ts";

/** The devices of a pool that a node reaches. */
export interface DevicePool {
  readonly driver: string;
  readonly name: string;
  /** Its driver is about to list it anew, or lists a device twice: nothing is given from it now. */
  readonly hindrance: "incomplete" | "invalid" | undefined;
  readonly devices: readonly PooledDevice[];
}

/** A device with the place where it was listed. */
export interface PooledDevice {
  /** Unique in the cluster. */
  readonly id: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: Device;
  readonly slice: ResourceSliceSpec;
}

/** The name by which a device is known in all its pools: driver, pool, device. */
export const deviceIdOf = (driver: string, pool: string, device: string) => `${driver}/${pool}/${device}`;

/**
 * The pools of which the node reaches devices. Only the newest generation of a pool counts, and it is complete when as
 * many slices are there as each of them says. Slices for other nodes count for that (`structured.GatherPools`).
 */
export function gatherPools(slices: readonly ResourceSlice[], node: SelectableNode): DevicePool[] {
  const pools = new Map<string, ResourceSliceSpec[]>();
  for (const { spec } of slices) {
    const key = `${spec.driver}/${spec.pool.name}`;
    const known = pools.get(key) ?? [];
    pools.set(key, known);
    known.push(spec);
  }
  return [...pools].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, all]) => poolOf(all, node) ?? []);
}

function poolOf(all: readonly ResourceSliceSpec[], node: SelectableNode): DevicePool | undefined {
  const newest = Math.max(...all.map(({ pool }) => pool.generation));
  const current = all.filter(({ pool }) => pool.generation === newest);
  const reached = current.filter((slice) => isReached(slice, node));
  const [first] = reached;
  if (first === undefined) return undefined;
  const { driver, pool } = first;
  const about = { driver, name: pool.name };
  if (current.length !== pool.resourceSliceCount) return { ...about, hindrance: "incomplete", devices: [] };
  const devices = reached.flatMap((slice) => {
    return (slice.devices ?? []).map((device) => {
      return { id: deviceIdOf(driver, pool.name, device.name), driver, pool: pool.name, device, slice };
    });
  });
  const isAmbiguous = new Set(devices.map(({ id }) => id)).size < devices.length;
  return isAmbiguous ? { ...about, hindrance: "invalid", devices: [] } : { ...about, hindrance: undefined, devices };
}

function isReached({ nodeName, allNodes, nodeSelector }: ResourceSliceSpec, node: SelectableNode): boolean {
  if (nodeName !== undefined && nodeName !== "") return nodeName === node.name;
  return allNodes === true || (nodeSelector !== undefined && matchesAnyTerm(nodeSelector.nodeSelectorTerms, node));
}
