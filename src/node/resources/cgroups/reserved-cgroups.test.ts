import { expect, it } from "vitest";
import { listReservedCgroups } from "./reserved-cgroups.ts";

const SETTINGS = {
  systemReserved: { cpu: "250m", memory: "1Ki", pid: "10" },
  systemReservedCgroup: "/system",
  kubeReserved: { cpu: "500m", memory: "2Ki" },
  kubeReservedCgroup: "/kube",
};

it.each<[readonly string[] | undefined, readonly string[]]>([
  [undefined, []],
  [["pods"], []],
  [["kube-reserved"], ["/kube whole"]],
  [
    ["kube-reserved-compressible", "kube-reserved", "system-reserved"],
    ["/system whole", "/kube whole", "/kube compressible"],
  ],
])("of %j there are %j", (enforceNodeAllocatable, expected) => {
  const settings = { ...SETTINGS, enforceNodeAllocatable: enforceNodeAllocatable && [...enforceNodeAllocatable] };
  const cgroups = listReservedCgroups(settings, { protectsMemory: false });
  expect(cgroups.map(({ path, compressibleOnly }) => `${path} ${compressibleOnly ? "compressible" : "whole"}`)).toEqual(
    expected,
  );
});

it("gives processor time alone where only that is enforced", () => {
  const enforceNodeAllocatable = ["system-reserved", "system-reserved-compressible"];
  const cgroups = listReservedCgroups({ ...SETTINGS, enforceNodeAllocatable }, { protectsMemory: false });
  expect(cgroups.map(({ limits }) => limits)).toEqual([
    { cpuShares: 256n, memoryBytes: 1024n, maxTasks: 10n },
    { cpuShares: 256n },
  ]);
});

it("protects the memory that is set aside, with MemoryQoS", () => {
  const enforceNodeAllocatable = ["system-reserved", "kube-reserved-compressible"];
  const cgroups = listReservedCgroups({ ...SETTINGS, enforceNodeAllocatable }, { protectsMemory: true });
  expect(cgroups.map(({ limits }) => limits)).toEqual([
    { cpuShares: 256n, memoryBytes: 1024n, memoryMin: 1024n, maxTasks: 10n },
    { cpuShares: 512n },
  ]);
});
