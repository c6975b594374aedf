import type { Container, Pod } from "../../../api/gen/types.ts";
import { podContainers, podUid } from "../../../api/pods.ts";
import { quantityValue } from "../../../api/quantity.ts";
import { computeContainerLimits, type ResourceList } from "../../../api/resources.ts";
import { messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { DevicePlugin } from "../../../device-plugin/port.ts";
import type { NumaHint } from "../topology/merge-hints.ts";
import { chooseDevices } from "./choose-devices.ts";
import { type AssignedDevices, type DeviceAssignments, listDeviceIds, NO_NUMA_NODE } from "./device-assignments.ts";
import { computeDeviceHints } from "./device-hints.ts";
import { type DeviceHolders, listDevicesOf, listReusableDevices } from "./device-holders.ts";
import type { DeviceInventory, DeviceResource } from "./device-inventory.ts";
import { type DeviceOptions, joinDeviceResponses, NO_DEVICE_OPTIONS } from "./device-options.ts";
import { findExcess } from "./kept-responses.ts";
import { preStartContainer } from "./pre-start-container.ts";

/** A container of a pod. */
interface DeviceUser {
  readonly podUid: string;
  readonly container: Container;
}

/** Gives devices to containers. */
export interface ContainerDevices {
  /** Whether the container asks for a resource that a plugin has, or had. */
  concerns(container: Container): boolean;
  /**
   * Gives the container what it asks for, and keeps what it has. Returns why it cannot; undefined where all is given,
   * which is on the disk by then.
   */
  allocate(user: DeviceUser, place: DeviceSources, signal: AbortSignal): Promise<string | undefined>;
  /** Where each resource of the container could be given; see `computeDeviceHints`. */
  hintsOfContainer(user: DeviceUser, predecessors: readonly string[], machineNodes: readonly number[]): DeviceHints;
  /** Where each resource of the whole pod could be given. */
  hintsOfPod(pod: Pod, machineNodes: readonly number[]): DeviceHints;
  /** Makes the devices ready, and returns what they add to the container, or the message of its failure. */
  prepare(user: DeviceUser, signal: AbortSignal): Promise<PreparedDevices>;
}

type DeviceHints = ReadonlyArray<readonly NumaHint[] | undefined>;

/** From where the container's devices may come. */
export interface DeviceSources {
  /** The containers of the pod that are done before this one starts. */
  readonly predecessors: readonly string[];
  /** The NUMA nodes on which the container is to be aligned; undefined: anywhere. */
  readonly numaNodes: ReadonlySet<number> | undefined;
}

type PreparedDevices = { readonly ok: true; readonly options: DeviceOptions } | { readonly ok: false; error: string };

interface ContainerDevicesDeps {
  readonly inventory: Pick<DeviceInventory, "get">;
  readonly assignments: DeviceAssignments;
  /** Resolves when the account is on the disk. */
  save(): Promise<void>;
  /** Times a call of Allocate. */
  measureAllocate<T>(resource: string, call: () => Promise<T>): Promise<T>;
}

export function createContainerDevices(deps: ContainerDevicesDeps): ContainerDevices {
  const { inventory, assignments } = deps;
  // Two choices at the same time could take the same device.
  const turn = createLimiter(1);

  const wishesIn = (limitsOfAll: ResourceList): Map<string, number> => {
    const known = assignments.resources();
    const limits = Object.entries(limitsOfAll).map(([name, amount]) => {
      const isDevice = inventory.get(name) !== undefined || known.has(name);
      return [name, isDevice ? Number(quantityValue(amount)) : 0] as const;
    });
    return new Map(limits.filter(([, wanted]) => wanted > 0));
  };
  const wishesOf = (container: Container) => wishesIn(container.resources?.limits ?? {});
  const hintsOf = (wishes: ReadonlyMap<string, number>, holders: DeviceHolders, machineNodes: readonly number[]) =>
    [...wishes].map(([name, wanted]) => {
      const resource = inventory.get(name);
      if (resource === undefined) return undefined;
      const present = listDevicesOf(assignments, holders, name);
      const reusable = listReusableDevices(assignments, holders, name);
      const inUse = assignments.inUse(name);
      return computeDeviceHints({ resource, wanted, present, inUse, reusable, machineNodes });
    });

  /** Returns why the container cannot have the devices; they are in the account where it can. */
  const allocateOne = async (
    { podUid, container }: DeviceUser,
    place: DeviceSources,
    wish: Wish,
    signal: AbortSignal,
  ) => {
    const { name: resourceName, wanted } = wish;
    const resource = inventory.get(resourceName);
    const present = assignments.ofContainer(podUid, container.name).get(resourceName);
    const holders = { podUid, containers: [container.name], predecessors: place.predecessors };
    const choice = await chooseDevices(
      {
        resourceName,
        resource,
        wanted,
        present: present && listDeviceIds(present),
        inUse: assignments.inUse(resourceName),
        reusable: listReusableDevices(assignments, holders, resourceName),
        numaNodes: place.numaNodes,
        podUid,
        container: container.name,
      },
      async (request) => {
        const plugin = resource?.plugin;
        return plugin?.options.preferredAllocationAvailable === true
          ? await plugin.client.preferredAllocation(request, { signal })
          : undefined;
      },
    );
    if (!choice.ok) return choice.error;
    if (choice.chosen.length === 0) return undefined;
    const client = inventory.get(resourceName)?.plugin?.client;
    if (client === undefined) return `endpoint ${resourceName} has been stopped`;
    const response = await deps.measureAllocate(
      resourceName,
      async () => await allocate(client, choice.chosen, signal),
    );
    if (response === undefined) return "no containers return in allocation response";
    const excess = findExcess(resourceName, response, assignments.list());
    if (excess !== undefined) return excess;
    const devices = { idsByNumaNode: groupByNumaNode(resource, choice.chosen), response };
    assignments.assign({ podUid, container: container.name, resource: resourceName, devices });
    return undefined;
  };

  const allocateAll: ContainerDevices["allocate"] = async (user, place, signal) => {
    const before = assignments.ofContainer(user.podUid, user.container.name).size;
    for (const [name, wanted] of wishesOf(user.container)) {
      try {
        const refusal = await allocateOne(user, place, { name, wanted }, signal);
        if (refusal !== undefined) return refusal;
      } catch (error) {
        signal.throwIfAborted();
        return messageOf(error);
      }
    }
    const after = assignments.ofContainer(user.podUid, user.container.name).size;
    return after === before ? undefined : await saved();
  };

  const saved = async (): Promise<string | undefined> => {
    try {
      await deps.save();
      return undefined;
    } catch (error) {
      return `failed to write checkpoint file "kubelet_internal_checkpoint": ${messageOf(error)}`;
    }
  };

  const allocateInTurn: ContainerDevices["allocate"] = async (user, place, signal) =>
    await turn.run(async () => await allocateAll(user, place, signal), signal);

  return {
    concerns: (container) => wishesOf(container).size > 0,
    allocate: allocateInTurn,
    hintsOfContainer({ podUid, container }, predecessors, machineNodes) {
      const holders = { podUid, containers: [container.name], predecessors };
      return hintsOf(wishesOf(container), holders, machineNodes);
    },
    hintsOfPod(pod, machineNodes) {
      const containers = podContainers(pod).map(({ container }) => container.name);
      const holders = { podUid: podUid(pod), containers, predecessors: [] };
      return hintsOf(wishesIn(computeContainerLimits(pod)), holders, machineNodes);
    },
    async prepare(user, signal) {
      const { podUid, container } = user;
      const wishes = wishesOf(container);
      if (wishes.size === 0) return { ok: true, options: NO_DEVICE_OPTIONS };
      for (const name of wishes.keys()) {
        const error = await preStartContainer(deps, { podUid, container: container.name, resource: name }, signal);
        if (error !== undefined) return { ok: false, error };
      }
      const present = assignments.ofContainer(podUid, container.name);
      // The plugin came only after the pod had been let in, or the account was lost.
      if ([...wishes.keys()].some((name) => !present.has(name))) {
        const error = await allocateInTurn(user, { predecessors: [], numaNodes: undefined }, signal);
        if (error !== undefined) return { ok: false, error };
      }
      const given = [...assignments.ofContainer(podUid, container.name)];
      const responses = new Map(given.map(([name, { response }]) => [name, response]));
      return { ok: true, options: joinDeviceResponses(responses) };
    },
  };
}

interface Wish {
  readonly name: string;
  readonly wanted: number;
}

async function allocate(client: DevicePlugin, ids: readonly string[], signal: AbortSignal) {
  return await client.allocate(ids, { signal });
}

function groupByNumaNode(
  resource: DeviceResource | undefined,
  ids: readonly string[],
): AssignedDevices["idsByNumaNode"] {
  const groups = new Map<number, string[]>();
  for (const id of ids) {
    const nodes = resource?.devices.get(id)?.numaNodes ?? [];
    for (const node of nodes.length > 0 ? nodes : [NO_NUMA_NODE]) groups.set(node, [...(groups.get(node) ?? []), id]);
  }
  return groups;
}
