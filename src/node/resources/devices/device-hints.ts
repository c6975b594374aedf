import type { NumaHint } from "../topology/merge-hints.ts";
import { countNumaNodes, listNumaMasks, numaMaskOf } from "../topology/numa-mask.ts";
import type { DeviceResource } from "./device-inventory.ts";

/** What a container, or a pod as a whole, wants of one resource. */
interface DeviceHintInput {
  readonly resource: DeviceResource;
  readonly wanted: number;
  /** The devices that it has already. */
  readonly present: readonly string[];
  readonly inUse: ReadonlySet<string>;
  /** The devices of init containers that are done by then: all of them are taken. */
  readonly reusable: readonly string[];
  /** The NUMA nodes of the machine. */
  readonly machineNodes: readonly number[];
}

/**
 * The sets of NUMA nodes on which the devices could be given, as upstream
 * (pkg/kubelet/cm/devicemanager/topology_hints.go). Undefined: it does not matter. Empty: on none.
 */
export function computeDeviceHints(input: DeviceHintInput): NumaHint[] | undefined {
  const { resource, wanted, present, inUse, machineNodes } = input;
  const devices = [...resource.devices.values()];
  if (devices.every(({ numaNodes }) => numaNodes.length === 0)) return undefined;
  if (present.length > 0 && present.length !== wanted) return [];
  const reusable = present.length > 0 ? [] : input.reusable;
  const available = present.length > 0 ? present : [...resource.healthy].filter((id) => !inUse.has(id));
  if (new Set([...available, ...reusable]).size < wanted) return [];

  // A plugin may name nodes that the machine has not.
  const maskOf = (id: string) =>
    numaMaskOf((resource.devices.get(id)?.numaNodes ?? []).filter((node) => machineNodes.includes(node)));
  // Nodes without such a device only make more sets to look at.
  const used = new Set(devices.flatMap(({ numaNodes }) => numaNodes));
  const bearing = machineNodes.filter((node) => used.has(node));
  const nodes = bearing.length > 0 ? bearing : machineNodes;
  let fewest = nodes.length;
  const masks = listNumaMasks(nodes).filter((mask) => {
    const isIn = (id: string) => (maskOf(id) & mask) !== 0n;
    if (devices.filter(({ id }) => isIn(id)).length >= wanted) fewest = Math.min(fewest, countNumaNodes(mask));
    const placed = reusable.filter((id) => maskOf(id) !== 0n);
    return placed.every(isIn) && placed.length + available.filter(isIn).length >= wanted;
  });
  return masks.map((mask) => ({ nodes: mask, isPreferred: countNumaNodes(mask) === fewest }));
}
