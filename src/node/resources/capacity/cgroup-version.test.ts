import { expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { readCgroupVersion, requireCgroups } from "./cgroup-version.ts";

function makeFiles(version: 1 | 2) {
  const { files } = createFakeHost();
  files.put(version === 2 ? "/sys/fs/cgroup/cgroup.controllers" : "/sys/fs/cgroup/cpu/tasks", "");
  return files;
}

it.each([1, 2] as const)("sees version %i of cgroups", async (version) => {
  expect(await readCgroupVersion(makeFiles(version))).toBe(version);
});

it.each([
  ["failCgroupV1", { failCgroupV1: true }],
  ["singleProcessOOMKill", { singleProcessOOMKill: false }],
])("refuses version 1 where the configuration asks for another by %s", async (field, demands) => {
  await expect(requireCgroups(makeFiles(1), demands)).rejects.toThrow(field);
  await expect(requireCgroups(makeFiles(2), demands)).resolves.toBeUndefined();
});

it("takes version 1 otherwise", async () => {
  const demands = { failCgroupV1: false, singleProcessOOMKill: true };
  await expect(requireCgroups(makeFiles(1), demands)).resolves.toBeUndefined();
  await expect(requireCgroups(makeFiles(1), {})).resolves.toBeUndefined();
});
