import { describe, expect, it } from "vitest";
import { SINGLE_SOCKET } from "./__fixtures__/machines.ts";
import { decodeCpuCheckpoint, encodeCpuCheckpoint } from "./cpu-checkpoint.ts";
import { findCheckpointProblem } from "./cpu-checkpoint-file.ts";

/** A file of upstream's tests (cpumanager/state), with its checksum. */
const FILE = {
  policyName: "none",
  defaultCpuSet: "1-3",
  entries: { pod: { container1: "4-6", container2: "1-3" } },
  checksum: 3610638499,
};

describe("the checkpoint of CPUs", () => {
  it("is upstream's, with its checksum", () => {
    const read = decodeCpuCheckpoint(JSON.stringify(FILE));
    expect(read.exclusive.get("pod")?.get("container1")).toEqual(new Set([4, 5, 6]));
    expect(JSON.parse(encodeCpuCheckpoint(read))).toEqual(FILE);
  });

  it("leaves out what nobody has", () => {
    const text = encodeCpuCheckpoint({ policy: "none", shared: new Set([4, 5, 6]), exclusive: new Map() });
    expect(JSON.parse(text)).toEqual({ policyName: "none", defaultCpuSet: "4-6", checksum: 354655845 });
  });

  it.each([
    ["checkpoint is corrupted", { ...FILE, checksum: 1337 }],
    ['could not parse default cpu set "1.3"', { ...FILE, defaultCpuSet: "1.3", checksum: 0 }],
    ['could not parse cpuset "x" for container "c" in pod "p"', { ...FILE, entries: { p: { c: "x" } }, checksum: 0 }],
    ["entries[p] is no object", { ...FILE, entries: { p: "1" } }],
    ["policyName or defaultCpuSet is no text", {}],
  ])("is refused: %s", (problem, file) => {
    expect(() => decodeCpuCheckpoint(JSON.stringify(file))).toThrow(problem);
  });
});

describe("a checkpoint on a machine with eight CPUs, of which 0 and 4 are reserved", () => {
  const all = new Set(SINGLE_SOCKET.keys());
  const pools = { topology: SINGLE_SOCKET, reserved: new Set([0, 4]), usable: all, isStrict: false };
  const strict = { ...pools, usable: new Set([1, 2, 3, 5, 6, 7]), isStrict: true };
  const checkpoint = (shared: readonly number[], own: readonly number[] = [], policy = "static") => ({
    policy,
    shared: new Set(shared),
    exclusive: new Map(own.length === 0 ? [] : [["uid", new Map([["main", new Set(own)]])]]),
  });

  it.each([
    ["empty", checkpoint([]), pools],
    ["complete", checkpoint([0, 1, 3, 4, 5, 7], [2, 6]), pools],
    ["complete without the reserved CPUs", checkpoint([1, 3, 5, 7], [2, 6]), strict],
  ])("is taken over where it is %s", (_what, found, machine) => {
    expect(findCheckpointProblem(found, machine)).toBeUndefined();
  });

  it.each([
    ['configured policy "static" differs from state checkpoint policy "none"', checkpoint([], [], "none"), pools],
    ['not all reserved cpus: "0,4" are present in defaultCpuSet: "1-3,5-7"', checkpoint([1, 2, 3, 5, 6, 7]), pools],
    ['some of strictly reserved cpus: "0" are present in defaultCpuSet: "0-1"', checkpoint([0, 1]), strict],
    [
      'pod: uid, container: main cpuset: "1-2" overlaps with default cpuset "0-1,4"',
      checkpoint([0, 1, 4], [1, 2]),
      pools,
    ],
    [
      'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-4"',
      checkpoint([0, 1, 3, 4], [2]),
      pools,
    ],
  ])("is refused: %s", (problem, found, machine) => {
    expect(findCheckpointProblem(found, machine)).toBe(problem);
  });
});
