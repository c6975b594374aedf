import { fileError } from "../file-error.ts";
import type { FileSystemCapacity, Hugepages, Machine, MachineIdentity, MachineParts } from "../port.ts";

/** A machine whose facts are plain fields, so that a test changes them while the node agent runs. */
export interface FakeMachine extends Machine {
  facts: MachineFacts;
}

/** The facts of the fake machine. A test may change them at any time. */
interface MachineFacts {
  hostname: string;
  nodeAddresses: string[];
  interfaceAddresses: string[];
  memoryCapacityBytes: bigint;
  swapCapacityBytes: bigint;
  cpuCount: number;
  hugepages: Hugepages[];
  /** The capacity of the one file system. Undefined: it cannot be read. */
  fileSystem: FileSystemCapacity | undefined;
  identity: MachineIdentity;
  parts: MachineParts;
}

const GIB = 1024n ** 3n;

const DEFAULT_FACTS: MachineFacts = {
  hostname: "node-1",
  nodeAddresses: ["192.0.2.10"],
  interfaceAddresses: ["127.0.0.1", "::1", "192.0.2.10"],
  memoryCapacityBytes: 8n * GIB,
  swapCapacityBytes: 0n,
  cpuCount: 2,
  hugepages: [
    { pageSizeBytes: 2n * 1024n ** 2n, pages: 0n },
    { pageSizeBytes: GIB, pages: 0n },
  ],
  fileSystem: { sizeBytes: 100n * GIB, inodes: 6_553_600n },
  identity: {
    machineId: "0123456789abcdef0123456789abcdef",
    systemUuid: "01234567-89ab-cdef-0123-456789abcdef",
    bootId: "11111111-1111-4111-8111-111111111111",
    kernelRelease: "6.1.0-18-amd64",
    osImage: "Debian GNU/Linux 12 (bookworm)",
    architecture: "amd64",
  },
  parts: { physicalCores: 1, sockets: 1, memoryModules: [] },
};

export function createFakeMachine(): FakeMachine {
  const machine: FakeMachine = {
    facts: { ...DEFAULT_FACTS },
    hostname: () => machine.facts.hostname.toLowerCase(),
    nodeAddresses: async () => [...machine.facts.nodeAddresses],
    interfaceAddresses: () => [...machine.facts.interfaceAddresses],
    memoryCapacityBytes: async () => machine.facts.memoryCapacityBytes,
    swapCapacityBytes: async () => machine.facts.swapCapacityBytes,
    cpuCount: () => machine.facts.cpuCount,
    fileAccessPlaces: () => 16,
    hugepages: async () => [...machine.facts.hugepages],
    async fileSystemCapacity(path) {
      if (machine.facts.fileSystem === undefined) throw fileError("ENOENT", "statfs", path);
      return machine.facts.fileSystem;
    },
    async fileSystemUsage(path) {
      const { sizeBytes, inodes } = await machine.fileSystemCapacity(path);
      const empty = (total: bigint) => ({ total, available: total, used: 0n });
      return { bytes: empty(sizeBytes), inodes: empty(inodes) };
    },
    parts: async () => machine.facts.parts,
    identity: async () => machine.facts.identity,
  };
  return machine;
}
