import type { Pod } from "../../../api/gen/types.ts";
import type { NodeCpus } from "../cpus/node-cpus.ts";
import type { NodeDevices } from "../devices/node-devices.ts";
import type { NodeMemory } from "../memory/node-memory.ts";
import type { TopologyPolicy } from "../topology/topology-policy.ts";
import { allocatePod, listAllocatedContainers } from "./allocate-pod.ts";
import type { AllocationRefusal } from "./pod-allocation.ts";

/** All that is given to pods, as one. */
interface JoinedProviders {
  concerns(pod: Pod): boolean;
  allocate(pod: Pod, signal: AbortSignal): Promise<AllocationRefusal | undefined>;
  release(podUid: string): void;
  releaseOthers(keep: ReadonlySet<string>): void;
}

interface JoinedDeps {
  readonly devices: Pick<NodeDevices, "containers" | "assignments">;
  /** Undefined: containers share all CPUs. */
  readonly cpus: NodeCpus | undefined;
  /** Undefined: containers share all memory. */
  readonly memory: NodeMemory | undefined;
  readonly topology: TopologyPolicy;
}

/** Devices come before CPUs, and those before memory, as upstream's providers of hints do. */
export function joinProviders({ devices, cpus, memory, topology }: JoinedDeps): JoinedProviders {
  const given = [cpus, memory].filter((each) => each !== undefined);
  const providers = [devices.containers, ...given.map(({ containers }) => containers)];
  const accounts = [devices.assignments, ...given];
  return {
    concerns: (pod) =>
      listAllocatedContainers(pod).some(devices.containers.concerns) ||
      given.some(({ containers }) => containers.concerns(pod)),
    allocate: async (pod, signal) => await allocatePod({ providers, topology }, pod, signal),
    release(podUid) {
      for (const account of accounts) account.release(podUid);
    },
    releaseOthers(keep) {
      for (const account of accounts) account.releaseOthers(keep);
    },
  };
}
