import { expect, it } from "vitest";
import { type AllPodsLimitsInput, computeAllPodsLimits } from "./all-pods-limits.ts";

const GIB = 1024n ** 3n;
const NODE: AllPodsLimitsInput = {
  capacity: { cpu: "4", memory: "8Gi", pods: "110" },
  maxTasks: 32_768,
  reservations: {
    kubeReserved: { cpu: "500m", memory: "1Gi", pid: "700" },
    systemReserved: { cpu: "500m", pid: "68" },
    reservedSystemCpus: "",
    evictionHard: { "memory.available": "2Gi" },
  },
  hasMemoryController: true,
  isEnforced: true,
};

it.each<[string, Partial<AllPodsLimitsInput>, object]>([
  [
    "what is not reserved, thresholds of evictions included",
    {},
    { cpuShares: 3_072n, memoryBytes: 7n * GIB, maxTasks: 32_000n },
  ],
  [
    "all of the machine where nothing is enforced",
    { isEnforced: false },
    { cpuShares: 4_096n, memoryBytes: 8n * GIB, maxTasks: 32_768n },
  ],
  [
    "any number of processes where the kernel allows it",
    { maxTasks: undefined },
    { cpuShares: 3_072n, memoryBytes: 7n * GIB, maxTasks: undefined },
  ],
  [
    "as much memory as there is where the kernel cannot limit it",
    { hasMemoryController: false },
    { cpuShares: 3_072n, memoryBytes: undefined, maxTasks: 32_000n },
  ],
  [
    "nothing, and not less, where more is reserved than there is",
    { capacity: { cpu: "4", memory: "512Mi" } },
    { cpuShares: 3_072n, memoryBytes: 0n, maxTasks: 32_000n },
  ],
])("leaves pods %s", (_, changes, limits) => {
  expect(computeAllPodsLimits({ ...NODE, ...changes })).toEqual(limits);
});
