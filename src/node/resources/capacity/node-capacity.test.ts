import { expect, it } from "vitest";
import type { MachineInventory } from "./machine-inventory.ts";
import { computeNodeAllocatable, computeNodeCapacity, isExtendedResource } from "./node-capacity.ts";
import type { NodeReservations } from "./node-reservations.ts";

const MIB = 1024n ** 2n;
const machine: MachineInventory = {
  identity: { machineId: "", systemUuid: "", bootId: "", kernelRelease: "", osImage: "", architecture: "amd64" },
  cpuCount: 4,
  memoryBytes: 8n * 1024n * MIB,
  swapBytes: 0n,
  hugepages: [],
  ephemeralStorageBytes: 100n * 1024n * MIB,
};

const capacityOf = (facts: Partial<MachineInventory>, options = {}) =>
  computeNodeCapacity(
    { ...machine, ...facts },
    {
      maxPods: 110,
      podsPerCore: 0,
      localStorageCapacityIsolation: true,
      ...options,
    },
  );
const none: NodeReservations = { kubeReserved: {}, systemReserved: {}, reservedSystemCpus: "", evictionHard: {} };
const allocatableOf = (capacity: Record<string, string>, reservations: Partial<NodeReservations>) =>
  computeNodeAllocatable(capacity, { ...none, ...reservations });

it("has what the machine has", () => {
  expect(
    capacityOf({
      hugepages: [
        { pageSizeBytes: 2n * MIB, pages: 3n },
        { pageSizeBytes: 1024n * MIB, pages: 0n },
      ],
    }),
  ).toEqual({
    cpu: "4",
    memory: "8Gi",
    "ephemeral-storage": "100Gi",
    "hugepages-2Mi": "6Mi",
    "hugepages-1Gi": "0",
    pods: "110",
  });
});

it("has no ephemeral storage where local storage is not isolated", () => {
  expect(capacityOf({}, { localStorageCapacityIsolation: false })).toEqual({ cpu: "4", memory: "8Gi", pods: "110" });
});

it("writes bytes as kube-apiserver does", () => {
  expect(capacityOf({ memoryBytes: 24_684_096n * 1024n })).toMatchObject({ memory: "24684096Ki" });
});

it.each([
  [0, 110, "110"],
  [10, 110, "40"],
  [10, 30, "30"],
])("allows %i pods a core, and %i altogether: %s", (podsPerCore, maxPods, pods) => {
  expect(capacityOf({}, { podsPerCore, maxPods })["pods"]).toBe(pods);
});

it("does not invent storage that it could not measure", () => {
  expect(capacityOf({ ephemeralStorageBytes: undefined })).not.toHaveProperty("ephemeral-storage");
});

it.each<[string, Partial<NodeReservations>, Record<string, string>]>([
  ["nothing", {}, { cpu: "4", memory: "8Gi", "ephemeral-storage": "103865303040" }],
  [
    "amounts, for the system and for Kubernetes",
    { kubeReserved: { cpu: "100m", memory: "255Mi" }, systemReserved: { cpu: "1", "ephemeral-storage": "1Gi" } },
    { cpu: "2900m", memory: "7937Mi", "ephemeral-storage": "102791561216" },
  ],
  [
    "what eviction defends, with upstream's rounding of percentages",
    { evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%", "imagefs.available": "15%" } },
    { cpu: "4", memory: "8092Mi", "ephemeral-storage": "93478772582" },
  ],
  [
    "no percentage that switches eviction off",
    { evictionHard: { "memory.available": "0%", "nodefs.available": "100%" } },
    { cpu: "4", memory: "8Gi", "ephemeral-storage": "103865303040" },
  ],
  ["more than there is", { kubeReserved: { cpu: "5" } }, { cpu: "0" }],
  [
    "cores by number, in place of amounts",
    { reservedSystemCpus: "0-1,1,3", kubeReserved: { cpu: "3500m" } },
    { cpu: "1" },
  ],
])("keeps back %s", (_what, reservations, expected) => {
  const capacity = { cpu: "4", memory: "8Gi", "ephemeral-storage": "103865303040", pods: "110" };
  expect(allocatableOf(capacity, reservations)).toMatchObject({ pods: "110", ...expected });
});

it("takes huge pages out of memory", () => {
  const capacity = { memory: "8Gi", "hugepages-2Mi": "1Gi", "hugepages-1Gi": "2Gi" };
  expect(allocatableOf(capacity, { kubeReserved: { memory: "1Gi" } })).toEqual({ ...capacity, memory: "4Gi" });
  expect(allocatableOf({ memory: "1Gi", "hugepages-1Gi": "2Gi" }, {})["memory"]).toBe("0");
});

it.each([
  ["example.com/gpu", true],
  ["cpu", false],
  ["hugepages-2Mi", false],
  ["attachable-volumes-csi-x", false],
  ["kubernetes.io/batch", false],
  ["node.kubernetes.io/x", false],
  ["requests.example.com/gpu", false],
])("tells a vendor's resource from Kubernetes' own: %s", (name, expected) => {
  expect(isExtendedResource(name)).toBe(expected);
});
