import type { Machine } from "../port.ts";

/** A machine whose facts are plain fields, so that a test changes them while the node agent runs. */
export interface FakeMachine extends Machine {
  facts: MachineFacts;
}

/** What the fake machine says of itself; a test may change it at any time. */
export interface MachineFacts {
  hostname: string;
  nodeAddresses: string[];
  memoryCapacityBytes: bigint;
  cpuCount: number;
}

const DEFAULT_FACTS: MachineFacts = {
  hostname: "node-1",
  nodeAddresses: ["192.0.2.10"],
  memoryCapacityBytes: 8n * 1024n ** 3n,
  cpuCount: 2,
};

export function createFakeMachine(): FakeMachine {
  const machine: FakeMachine = {
    facts: { ...DEFAULT_FACTS },
    hostname: () => machine.facts.hostname.toLowerCase(),
    nodeAddresses: async () => [...machine.facts.nodeAddresses],
    memoryCapacityBytes: async () => machine.facts.memoryCapacityBytes,
    cpuCount: () => machine.facts.cpuCount,
  };
  return machine;
}
