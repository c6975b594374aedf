import { describe, expect, it } from "vitest";
import { decodeMemoryCheckpoint, encodeMemoryCheckpoint } from "./memory-checkpoint.ts";
import { findMemoryProblem } from "./memory-checkpoint-file.ts";
import { computeMemoryState, type MemoryBlock } from "./memory-state.ts";

/** A file of upstream's tests (memorymanager/state), with its checksum. */
const FILE = {
  policyName: "static",
  machineState: {
    0: {
      numberOfAssignments: 0,
      memoryMap: { memory: { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 } },
      cells: [],
    },
  },
  entries: { pod: { container1: [{ numaAffinity: [0], type: "memory", size: 512 }] } },
  checksum: 4215593881,
};

describe("the checkpoint of memory", () => {
  it("is upstream's, with its checksum", () => {
    const read = decodeMemoryCheckpoint(JSON.stringify(FILE));
    expect(read.assignments.get("pod")?.get("container1")).toEqual([{ numaNodes: [0], resource: "memory", size: 512 }]);
    expect(JSON.parse(encodeMemoryCheckpoint(read))).toEqual(FILE);
  });

  it.each([
    ["checkpoint is corrupted", { ...FILE, checksum: 101010 }],
    ["policyName is no text", {}],
    ["machineState is no object", { ...FILE, machineState: [1] }],
    ["entries[pod][main] is no list", { ...FILE, entries: { pod: { main: {} } } }],
    ["entries[pod][main][0].type is no text", { ...FILE, entries: { pod: { main: [{}] } } }],
    [
      "entries[pod][main][0].size is no amount",
      { ...FILE, entries: { pod: { main: [{ type: "memory", numaAffinity: [0], size: -1 }] } } },
    ],
  ])("is refused: %s", (problem, file) => {
    expect(() => decodeMemoryCheckpoint(JSON.stringify(file))).toThrow(problem);
  });
});

describe("a checkpoint on a machine with two NUMA nodes", () => {
  const pool = new Map([["memory", { total: 2048, systemReserved: 512, allocatable: 1536 }]]);
  const pools = new Map([
    [0, pool],
    [1, pool],
  ]);
  const blockOn = (numaNodes: readonly number[], resource = "memory"): MemoryBlock => ({
    numaNodes,
    resource,
    size: 1024,
  });
  const checkpoint = (own: readonly MemoryBlock[], counted = own) => ({
    policy: "Static",
    state: computeMemoryState(pools, counted),
    assignments: new Map(own.length === 0 ? [] : [["uid", new Map([["main", own]])]]),
  });
  const nothing = { ...checkpoint([]), state: new Map() };

  it.each([
    ["empty", nothing],
    ["without containers", checkpoint([])],
    ["complete", checkpoint([blockOn([0]), blockOn([1])])],
    ["of a group", checkpoint([blockOn([0, 1]), blockOn([0, 1])])],
  ])("is taken over where it is %s", (_what, found) => {
    expect(findMemoryProblem(found, pools)).toBeUndefined();
  });

  it.each([
    [
      'configured policy "Static" differs from state checkpoint policy "None"',
      { ...checkpoint([]), policy: "None" },
      pools,
    ],
    [
      "machine state can not be empty when it has memory assignments",
      { ...nothing, assignments: checkpoint([blockOn([0])]).assignments },
      pools,
    ],
    [
      "(pod: uid, container: main) the memory assignment uses the NUMA that does not exist",
      checkpoint([blockOn([2])]),
      pools,
    ],
    [
      "(pod: uid, container: main) the memory assignment uses the memory resource that does not exist",
      checkpoint([blockOn([0], "hugepages-2Mi")]),
      pools,
    ],
    ["the expected machine state is different from the real one", checkpoint([blockOn([0])], [blockOn([1])]), pools],
    ["the expected machine state is different from the real one", checkpoint([]), new Map([[0, pool]])],
    [
      "the expected machine state is different from the real one",
      checkpoint([]),
      new Map([...pools, [1, new Map([["memory", { total: 4096, systemReserved: 512, allocatable: 3584 }]])]]),
    ],
  ])("is refused: %s", (problem, found, machine) => {
    expect(findMemoryProblem(found, machine)).toBe(problem);
  });
});
