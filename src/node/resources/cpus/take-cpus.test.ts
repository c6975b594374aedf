import { describe, expect, it } from "vitest";
import { formatCpuList, parseCpuList } from "../../../base/cpu-list.ts";
import { createSeededDice } from "./__fixtures__/dice.ts";
import {
  CACHES_OF_CORES,
  CACHES_OF_NODES,
  CACHES_OF_SOCKETS,
  DUAL_SOCKET,
  EIGHT_NODES,
  FOUR_CACHES,
  FOUR_NODES,
  NO_PREFERENCES,
  SINGLE_SOCKET,
} from "./__fixtures__/machines.ts";
import type { CpuPlace, CpuTopology } from "./cpu-topology.ts";
import { type CpuPreferences, takeCpus } from "./take-cpus.ts";

/** What is taken of the CPUs of a list. */
function taken(topology: CpuTopology, list: string, wanted: number, preferences: Partial<CpuPreferences> = {}): string {
  const available = parseCpuList(list) ?? new Set();
  const cpus = takeCpus({ topology, available, wanted }, { ...NO_PREFERENCES, ...preferences });
  return cpus === undefined ? "too few" : formatCpuList(cpus);
}

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
    expect(taken(topology, available, wanted)).toBe(expected);
  });

  it("takes nothing where there are too few", () => {
    expect(taken(SINGLE_SOCKET, "0,2,4,6", 5)).toBe("too few");
    expect(taken(SINGLE_SOCKET, "0,2,4,6", 5, { dividesAcrossNumaNodes: true })).toBe("too few");
  });

  it("never takes a CPU that is in use, also where cores differ in size", () => {
    const place = (core: number): CpuPlace => ({ core, cache: 0, socket: 0, numaNode: 0 });
    const hybrid = new Map([0, 0, 2, 3].map((core, cpu) => [cpu, place(core)]));
    expect(taken(hybrid, "1-3", 3)).toBe("1-3");
    expect(taken(hybrid, "1-3", 3, { prefersOneCache: true })).toBe("1-3");
  });
});

/** The cases of this and the next tables are those of upstream's (cpumanager/cpu_assignment_test.go). */
describe("the choice of CPUs across cores", () => {
  it.each([
    ["a CPU of each core", SINGLE_SOCKET, "0-7", 3, "0-2"],
    ["CPUs of one socket", DUAL_SOCKET, "0-11", 3, "0,2,4"],
    ["a whole socket", DUAL_SOCKET, "0-11", 6, "0,2,4,6,8,10"],
    ["a whole socket, and a CPU of each core of the other", DUAL_SOCKET, "0-11", 8, "0-4,6,8,10"],
    ["CPUs of one NUMA node", FOUR_NODES, "0-79", 8, "0-7"],
  ])("takes %s", (_what, topology, available, wanted, expected) => {
    expect(taken(topology, available, wanted, { spreadsAcrossCores: true })).toBe(expected);
  });
});

describe("the choice of CPUs of one cache", () => {
  it.each([
    ["two caches, and a part of another", FOUR_CACHES, "1-15", 10, "1-2,4-11"],
    ["a cache of the first socket", CACHES_OF_SOCKETS, "0-15", 4, "0-3"],
    ["all of the first socket", CACHES_OF_SOCKETS, "2-15", 6, "2-7"],
    ["a cache of the second socket", CACHES_OF_SOCKETS, "8-15", 4, "8-11"],
    ["a part of the only cache that has enough", CACHES_OF_NODES, "3-8,12", 2, "4-5"],
    ["cores of a cache but one CPU", CACHES_OF_CORES, "2-7,10-15", 5, "4-6,12-13"],
    ["a cache and a core of the other", CACHES_OF_CORES, "1-7,9-15", 10, "1,4-7,9,12-15"],
    ["cores of several caches where none has enough", CACHES_OF_CORES, "0-2,4-6,8-10,12-14", 8, "0-2,4,8-10,12"],
  ])("takes %s", (_what, topology, available, wanted, expected) => {
    expect(taken(topology, available, wanted, { prefersOneCache: true })).toBe(expected);
  });
});

describe("the choice of CPUs across NUMA nodes", () => {
  const EVEN = "0-8,10-18,20-39,40-48,50-58,60-79";
  const LIVE =
    "0,128,30,31,158,159,43-47,171-175,62,63,190,191,75-79,203-207,94,96,222,223,101-111,229-239,126,127,254,255";
  it.each([
    ["nothing", SINGLE_SOCKET, "0-7", 0, ""],
    ["what fits on one node, of one", DUAL_SOCKET, "0-11", 6, "0,2,4,6,8,10"],
    ["a CPU where the most is left", DUAL_SOCKET, "1-5,7-11", 1, "1"],
    ["as much of each node", DUAL_SOCKET, "0-11", 8, "0-3,6-9"],
    ["as much of each of four nodes", FOUR_NODES, "0-79", 64, "0-7,10-17,20-27,30-37,40-47,50-57,60-67,70-77"],
    ["as much of three nodes", FOUR_NODES, "0-79", 48, "0-7,10-17,20-27,40-47,50-57,60-67"],
    ["of three nodes beside one in use", FOUR_NODES, "1-29,32-39,41-69,72-79", 48, "1-8,10-17,20-27,41-48,50-57,60-67"],
    ["of the nodes that have most", FOUR_NODES, "2-29,31-39,42-69,71-79", 48, "10-17,20-27,31-38,50-57,60-67,71-78"],
    ["an odd number of two nodes", FOUR_NODES, "0-79", 26, "0-6,10-16,40-45,50-55"],
    ["a rest of the first nodes", FOUR_NODES, "0-79", 62, "0-7,10-17,20-27,30-37,40-47,50-57,60-66,70-76"],
    ["a rest where the most is left", FOUR_NODES, EVEN, 62, "0-7,10-17,20-27,30-37,40-46,50-56,60-67,70-77"],
    [
      "a rest of nodes that have enough",
      FOUR_NODES,
      "0-3,10-13,20-23,30-36,40-43,50-53,60-63,70-76",
      34,
      "0-3,10-13,20-23,30-34,40-43,50-53,60-63,70-74",
    ],
    ["of nodes in use as they are", EIGHT_NODES, LIVE, 28, "43-47,75-79,96,101-105,171-174,203-206,229-232"],
  ])("takes %s", (_what, topology, available, wanted, expected) => {
    expect(taken(topology, available, wanted, { dividesAcrossNumaNodes: true })).toBe(expected);
  });

  it.each([
    ["a CPU as without it, where it is no whole core", DUAL_SOCKET, "1-5,7-11", 1, "2"],
    ["cores of two nodes", FOUR_NODES, "0-79", 26, "0-6,10-15,40-46,50-55"],
    ["a rest of three nodes", FOUR_NODES, "0-79", 62, "0-7,10-17,20-27,30-36,40-47,50-57,60-67,70-76"],
    ["a rest where the most is left", FOUR_NODES, EVEN, 62, "0-7,10-16,20-27,30-37,40-47,50-56,60-67,70-77"],
  ])("takes whole cores: %s", (_what, topology, available, wanted, expected) => {
    const preferences = { dividesAcrossNumaNodes: true, wholeCoresOnly: true };
    expect(taken(topology, available, wanted, preferences)).toBe(expected);
  });

  it("takes nodes of one socket rather than an even division", () => {
    const available = "0-9,10-13,20-29,30-39,40-49,50-53,60-69,70-73";
    const even = taken(FOUR_NODES, available, 24, { dividesAcrossNumaNodes: true });
    const ofSocket = taken(FOUR_NODES, available, 24, { dividesAcrossNumaNodes: true, alignsToSockets: true });
    const socketsOf = (list: string) =>
      new Set([...(parseCpuList(list) ?? [])].map((cpu) => FOUR_NODES.get(cpu)?.socket));
    expect([socketsOf(even).size, socketsOf(ofSocket).size]).toEqual([2, 1]);
  });

  it.each([
    { dividesAcrossNumaNodes: true },
    { dividesAcrossNumaNodes: true, wholeCoresOnly: true },
    { dividesAcrossNumaNodes: true, alignsToSockets: true },
    { prefersOneCache: true },
    { spreadsAcrossCores: true },
  ])("takes as many as are wanted, and none twice, of whatever is free: %j", (preferences) => {
    const dice = createSeededDice(1);
    for (let round = 0; round < 150; round++) {
      const topology = [DUAL_SOCKET, FOUR_NODES, CACHES_OF_NODES, CACHES_OF_CORES][round % 4] ?? DUAL_SOCKET;
      const available = new Set([...topology.keys()].filter(() => dice() < 0.6));
      const wanted = Math.floor(dice() * (available.size + 1));
      const cpus = takeCpus({ topology, available, wanted }, { ...NO_PREFERENCES, ...preferences });
      expect(cpus?.size).toBe(wanted);
      expect([...(cpus ?? [])].every((cpu) => available.has(cpu))).toBe(true);
    }
  });
});
