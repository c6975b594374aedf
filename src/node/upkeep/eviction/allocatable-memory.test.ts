import { expect, it } from "vitest";
import { type CgroupUsage, NO_CGROUP_MEMORY } from "../../../host/cgroups-port.ts";
import { readAllocatableMemory } from "./allocatable-memory.ts";

const memoryOf = (limit: number | undefined) => ({ ...NO_CGROUP_MEMORY, usage: 4, workingSet: 3, limit });
const usage = (memory: CgroupUsage["memory"]): CgroupUsage => {
  return { cpu: undefined, memory, pids: [], pressure: {}, details: undefined };
};

it.each<[string, string | undefined, CgroupUsage | undefined, object | undefined]>([
  ["a limit", "/kubepods", usage(memoryOf(10)), { limit: 10, usage: 4, workingSet: 3 }],
  ["no limit", "/kubepods", usage(memoryOf(undefined)), undefined],
  ["no count of memory", "/kubepods", usage(undefined), undefined],
  ["no cgroup", "/kubepods", undefined, undefined],
  ["no name yet", undefined, usage(memoryOf(10)), undefined],
])("of pods with %s", async (_, path, read, expected) => {
  const cgroups = { read: async (asked: string) => (asked === "/kubepods" ? read : undefined) };
  expect(await readAllocatableMemory(cgroups, path)).toEqual(expected);
});
