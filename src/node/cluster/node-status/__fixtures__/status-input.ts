import type { NodeStatusInput } from "../node-status.ts";

const GIB = 1024n ** 3n;

/** Makes the input of a small, healthy machine; `changes` are what a test is about. */
export function statusInput(changes: Partial<NodeStatusInput> = {}): NodeStatusInput {
  return {
    nodeName: "node-1",
    nodeIps: [],
    fallbackIp: undefined,
    isCloudExternal: false,
    maxPods: 110,
    podsPerCore: 0,
    reservations: { kubeReserved: {}, systemReserved: {}, reservedSystemCpus: "", evictionHard: {} },
    kubeletPort: 10_250,
    localStorageCapacityIsolation: true,
    declaringGates: undefined,
    machine: {
      identity: {
        machineId: "machine",
        systemUuid: "uuid",
        bootId: "boot-1",
        kernelRelease: "6.1.0",
        osImage: "Debian GNU/Linux 12 (bookworm)",
        architecture: "amd64",
      },
      cpuCount: 4,
      memoryBytes: 8n * GIB,
      swapBytes: 0n,
      hugepages: [],
      ephemeralStorageBytes: 100n * GIB,
    },
    machineAddresses: ["192.0.2.10", "2001:db8::10"],
    interfaceAddresses: ["127.0.0.1", "::1", "192.0.2.10", "192.0.2.11", "2001:db8::10", "169.254.1.1", "fe80::1"],
    runtime: { name: "containerd", version: "v1.6.20", handlers: [], features: undefined },
    images: undefined,
    errors: [],
    pressure: { memory: false, disk: false, pid: false },
    volumesInUse: undefined,
    volumesAttached: undefined,
    ...changes,
  };
}
