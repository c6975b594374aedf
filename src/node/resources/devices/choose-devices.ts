import type { PreferredAllocation } from "../../../device-plugin/port.ts";
import type { DeviceResource } from "./device-inventory.ts";

/** Everything on which it depends which devices of one resource a container gets. */
export interface DeviceWish {
  readonly resourceName: string;
  readonly resource: DeviceResource | undefined;
  readonly wanted: number;
  /** The devices that the container has already; undefined where it has none. */
  readonly present: readonly string[] | undefined;
  /** The devices that containers have, this pod's included. */
  readonly inUse: ReadonlySet<string>;
  /** The devices of the pod's init containers, which are done before this container starts. */
  readonly reusable: readonly string[];
  /** The NUMA nodes on which the container is to be aligned; undefined: anywhere. */
  readonly numaNodes: ReadonlySet<number> | undefined;
  /** Named in the refusal of a wish that has changed. */
  readonly podUid: string;
  readonly container: string;
}

/** The devices to ask the plugin for; none where the container has them already. */
type DeviceChoice = { readonly ok: true; readonly chosen: readonly string[] } | { readonly ok: false; error: string };

/** The plugin's preference; undefined where it wants not to be asked. */
type AskPreferred = (request: PreferredAllocation) => Promise<readonly string[] | undefined>;

/**
 * Chooses devices as upstream (`devicesToAllocate` in pkg/kubelet/cm/devicemanager/manager.go): those of init containers
 * first, then those on the right NUMA nodes, among which the plugin has its say, then the others. Rejects as `ask` does.
 */
export async function chooseDevices(wish: DeviceWish, ask: AskPreferred): Promise<DeviceChoice> {
  const refusal = findRefusal(wish);
  if (refusal !== undefined) return { ok: false, error: refusal };
  if (wish.present !== undefined) return { ok: true, chosen: [] };
  const { resourceName, resource, wanted, reusable, inUse } = wish;
  const chosen = new Set<string>();
  const isFilledFrom = (ids: Iterable<string>) => {
    for (const id of ids) if (chosen.size < wanted) chosen.add(id);
    return chosen.size === wanted;
  };
  const result = (): DeviceChoice => ({ ok: true, chosen: [...chosen] });
  if (isFilledFrom(reusable)) return result();

  const needed = wanted - chosen.size;
  const available = [...(resource?.healthy ?? [])].filter((id) => !inUse.has(id)).sort();
  if (available.length < needed) {
    const amounts = `Requested: ${needed}, Available: ${available.length}`;
    return { ok: false, error: `requested number of devices unavailable for ${resourceName}. ${amounts}` };
  }
  const { aligned, unaligned, withoutNode } = sortByAffinity(wish, available);
  const isChoiceAligned = needed < aligned.length;
  // The aligned devices are taken first where they do not suffice, which keeps the promise of the alignment.
  if (!isChoiceAligned && isFilledFrom(aligned)) return result();
  const offered = isChoiceAligned ? aligned : available;
  const mustInclude = [...chosen].sort();
  const asked = { available: [...new Set([...offered, ...mustInclude])].sort(), mustInclude, size: wanted };
  const preferred = (await ask(asked)) ?? [];
  const order = [...preferred.filter((id) => offered.includes(id)), ...aligned, ...unaligned, ...withoutNode];
  if (isFilledFrom(order)) return result();
  const amounts = `Requested: ${wanted}, Got: ${chosen.size}`;
  return { ok: false, error: `unexpectedly allocated less resources than required. ${amounts}` };
}

function findRefusal({ resourceName, resource, wanted, present, podUid, container }: DeviceWish): string | undefined {
  if (present !== undefined && present.length !== wanted) {
    const change = `changed request for resource "${resourceName}" from ${present.length} to ${wanted}`;
    return `pod "${podUid}" container "${container}" ${change}`;
  }
  if (resource === undefined) return `cannot allocate unregistered device ${resourceName}`;
  const { healthy } = resource;
  if (healthy.size === 0) return `no healthy devices present; cannot allocate unhealthy devices ${resourceName}`;
  if (present?.some((id) => !healthy.has(id)) === true) {
    return `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resourceName}`;
  }
  return undefined;
}

interface ByAffinity {
  /** On a wanted NUMA node. */
  readonly aligned: readonly string[];
  readonly unaligned: readonly string[];
  /** Close to no NUMA node, or nothing is to be aligned. */
  readonly withoutNode: readonly string[];
}

function sortByAffinity({ resource, numaNodes: wanted }: DeviceWish, available: readonly string[]): ByAffinity {
  const nodesOf = (id: string) => resource?.devices.get(id)?.numaNodes ?? [];
  const hasTopology = [...(resource?.devices.values() ?? [])].some(({ numaNodes }) => numaNodes.length > 0);
  if (wanted === undefined || !hasTopology) return { aligned: [], unaligned: [], withoutNode: available };
  const aligned = available.filter((id) => nodesOf(id).some((node) => wanted.has(node)));
  const withoutNode = available.filter((id) => nodesOf(id).length === 0);
  const unaligned = available.filter((id) => !aligned.includes(id) && !withoutNode.includes(id));
  const load = (id: string) => available.filter((other) => nodesOf(other).some((node) => nodesOf(id).includes(node)));
  // Nodes with few devices are used up first, as upstream sorts them.
  const byLoad = (ids: string[]) => ids.sort((a, b) => load(a).length - load(b).length);
  return { aligned: byLoad(aligned), unaligned: byLoad(unaligned), withoutNode };
}
