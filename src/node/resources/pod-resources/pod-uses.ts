import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer, podReference, podUid } from "../../../api/pods.ts";
import type { ContainerResourceUse, DeviceUse, PodResourcesSource, PodUse } from "../../../pod-resources/port.ts";
import type { NodeCpus } from "../cpus/node-cpus.ts";
import type { NodeDeviceClaims } from "../device-claims/node-device-claims.ts";
import { type DeviceAssignments, NO_NUMA_NODE } from "../devices/device-assignments.ts";
import type { DeviceInventory } from "../devices/device-inventory.ts";
import type { NodeMemory } from "../memory/node-memory.ts";

interface PodUsesDeps {
  /** The pods that have not ended. */
  activePods(): readonly Pod[];
  readonly inventory: Pick<DeviceInventory, "names" | "get">;
  readonly assignments: Pick<DeviceAssignments, "ofContainer">;
  /** Undefined: containers share all CPUs. */
  readonly cpus: Pick<NodeCpus, "exclusiveOf" | "allocatable"> | undefined;
  /** Undefined: no pod has claims. */
  readonly deviceClaims: Pick<NodeDeviceClaims, "usesOf"> | undefined;
  /** Undefined: containers share all memory. */
  readonly memory: Pick<NodeMemory, "blocksOf" | "allocatable"> | undefined;
}

/** Tells what pods have of this node, as upstream's podresources does. */
export function createPodUses(deps: PodUsesDeps): PodResourcesSource {
  const { activePods, inventory, assignments, cpus, memory, deviceClaims } = deps;
  const useOfContainer = (pod: Pod, container: Container, isSidecar: boolean): ContainerResourceUse => ({
    name: container.name,
    isSidecar,
    cpus: cpus?.exclusiveOf(podUid(pod), container.name) ?? [],
    memory: memory?.blocksOf(podUid(pod), container.name) ?? [],
    devices: [...assignments.ofContainer(podUid(pod), container.name)].flatMap(([resource, { idsByNumaNode }]) =>
      [...idsByNumaNode].flatMap(([node, ids]) =>
        ids.map((id) => ({ resource, id, numaNode: node === NO_NUMA_NODE ? undefined : node })),
      ),
    ),
    claims: deviceClaims?.usesOf(pod, container) ?? [],
  });
  const useOfPod = (pod: Pod): PodUse => {
    const { name, namespace } = podReference(pod);
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    const sidecars = initContainers.filter(isRestartableInitContainer);
    return {
      name,
      namespace,
      containers: [
        ...sidecars.map((container) => useOfContainer(pod, container, true)),
        ...containers.map((container) => useOfContainer(pod, container, false)),
      ],
    };
  };
  return {
    list: () => activePods().map(useOfPod),
    get(namespace, name) {
      const found = activePods().find((pod) => {
        const reference = podReference(pod);
        return reference.name === name && reference.namespace === namespace;
      });
      return found && useOfPod(found);
    },
    allocatableCpus: () => cpus?.allocatable ?? [],
    allocatableMemory: () => memory?.allocatable ?? [],
    allocatableDevices: () => inventory.names().flatMap((resource) => listHealthy(inventory, resource)),
  };
}

function listHealthy(inventory: Pick<DeviceInventory, "get">, resource: string): DeviceUse[] {
  const { healthy, devices } = inventory.get(resource) ?? { healthy: new Set(), devices: new Map() };
  return [...devices.values()].flatMap(({ id, numaNodes }) => {
    if (!healthy.has(id)) return [];
    if (numaNodes.length === 0) return [{ resource, id, numaNode: undefined }];
    return numaNodes.map((numaNode: number) => ({ resource, id, numaNode }));
  });
}
