import { describe, expect, it } from "vitest";
import { formatCpuList, parseCpuList } from "../../../base/cpu-list.ts";
import { DUAL_SOCKET, FOUR_NODES, SINGLE_SOCKET } from "./__fixtures__/machines.ts";
import { takeCpus } from "./take-cpus.ts";

describe("the choice of CPUs", () => {
  it.each([
    ["nothing", SINGLE_SOCKET, "0-7", 0, ""],
    ["the first CPU", SINGLE_SOCKET, "0-7", 1, "0"],
    ["a CPU of a core that is in use already", SINGLE_SOCKET, "1,3,5-7", 1, "6"],
    ["a core", SINGLE_SOCKET, "0-7", 2, "0,4"],
    ["all CPUs", SINGLE_SOCKET, "0-7", 8, "0-7"],
    ["the only core that is free", SINGLE_SOCKET, "0-3,6", 2, "2,6"],
    ["a CPU of the socket of which the least is free", DUAL_SOCKET, "1-5,7-11", 1, "2"],
    ["a socket", DUAL_SOCKET, "0-11", 6, "0,2,4,6,8,10"],
    ["a socket and a core", DUAL_SOCKET, "0-11", 8, "0-2,4,6-8,10"],
    ["a socket of two NUMA nodes", FOUR_NODES, "0-79", 40, "0-19,40-59"],
    ["a NUMA node", FOUR_NODES, "0-79", 20, "0-9,40-49"],
    ["the next NUMA node", FOUR_NODES, "10-39,50-79", 20, "10-19,50-59"],
    ["a socket and a NUMA node", FOUR_NODES, "0-79", 60, "0-29,40-69"],
    ["a socket and a NUMA node beside a core in use", FOUR_NODES, "1-39,41-79", 60, "10-39,50-79"],
    ["three NUMA nodes and two cores", FOUR_NODES, "0-79", 64, "0-31,40-71"],
  ])("takes %s", (_what, topology, available, wanted, expected) => {
    const taken = takeCpus(topology, parseCpuList(available) ?? new Set(), wanted);
    expect(taken && formatCpuList(taken)).toBe(expected);
  });

  it("takes nothing where there are too few", () => {
    expect(takeCpus(SINGLE_SOCKET, new Set([0, 2, 4, 6]), 5)).toBeUndefined();
  });

  it("never takes a CPU that is in use, also where cores differ in size", () => {
    const hybrid = new Map([
      [0, { core: 0, socket: 0, numaNode: 0 }],
      [1, { core: 0, socket: 0, numaNode: 0 }],
      [2, { core: 2, socket: 0, numaNode: 0 }],
      [3, { core: 3, socket: 0, numaNode: 0 }],
    ]);
    expect(takeCpus(hybrid, new Set([1, 2, 3]), 3)).toEqual(new Set([1, 2, 3]));
  });
});
