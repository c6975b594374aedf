import type { CpuSet } from "../../../base/cpu-list.ts";
import type { CpuPlace, CpuTopology } from "./cpu-topology.ts";

type CpuLevel = keyof CpuPlace;

/** CPUs of a machine that are taken one after the other, and the groups that hold those that are left. */
export interface CpuGroups {
  readonly taken: ReadonlySet<number>;
  /** How many are still to be taken. */
  missing(): number;
  take(cpus: readonly number[]): void;
  /** The groups of a level in which CPUs are free; within each group around them, the one with the fewest first. */
  list(level: CpuLevel): number[];
  /** The CPUs of a group that are free, in order. */
  freeIn(level: CpuLevel, group: number): number[];
  /** Takes each group of the level that is free as a whole and not larger than what is missing. */
  takeWhole(level: CpuLevel): void;
  /** A NUMA node may hold several sockets, or a socket several NUMA nodes: the larger of the two comes first. */
  readonly outer: readonly [CpuLevel, CpuLevel];
}

/** How many CPUs of which are asked for. */
export interface CpuRequest {
  readonly topology: CpuTopology;
  readonly available: CpuSet;
  readonly wanted: number;
}

export function createCpuGroups({ topology, available, wanted }: CpuRequest): CpuGroups {
  const free = new Map([...topology].filter(([cpu]) => available.has(cpu)));
  const taken = new Set<number>();
  const outer = rankOuterLevels(topology);
  const freeIn = (level: CpuLevel, group: number) => cpusIn(free, level, group).sort((a, b) => a - b);
  const list = (level: CpuLevel) => listGroups(free, pathTo(level, outer));
  const take = (cpus: readonly number[]) => {
    for (const cpu of cpus) {
      taken.add(cpu);
      free.delete(cpu);
    }
  };
  const missing = () => wanted - taken.size;
  return {
    taken,
    outer,
    missing,
    take,
    list,
    freeIn,
    takeWhole(level) {
      for (const group of list(level)) {
        const cpus = cpusIn(topology, level, group);
        if (cpus.length <= missing() && cpus.every((cpu) => free.has(cpu))) take(cpus);
      }
    },
  };
}

function rankOuterLevels(topology: CpuTopology): readonly [CpuLevel, CpuLevel] {
  const count = (level: CpuLevel) => new Set([...topology.values()].map((place) => place[level])).size;
  return count("socket") >= count("numaNode") ? ["numaNode", "socket"] : ["socket", "numaNode"];
}

/** The levels around one, from the outside on, and itself. Caches are ordered by their NUMA nodes. */
function pathTo(level: CpuLevel, outer: readonly [CpuLevel, CpuLevel]): readonly CpuLevel[] {
  if (level === "core") return [...outer, "core"];
  if (level === "cache") return [...pathTo("numaNode", outer), "cache"];
  return outer.slice(0, outer.indexOf(level) + 1);
}

function listGroups(free: CpuTopology, levels: readonly CpuLevel[]): number[] {
  const level = levels.at(-1) ?? "core";
  const outer = levels.slice(0, -1);
  const around = outer.at(-1);
  const places = [...free.values()];
  const counts = new Map<number, number>();
  for (const place of places) counts.set(place[level], (counts.get(place[level]) ?? 0) + 1);
  const sorted = (within: readonly CpuPlace[]) =>
    [...new Set(within.map((place) => place[level]))].sort(
      (a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || a - b,
    );
  if (around === undefined) return sorted(places);
  const groups = listGroups(free, outer).flatMap((group) => sorted(places.filter((place) => place[around] === group)));
  return [...new Set(groups)];
}

function cpusIn(topology: CpuTopology, level: CpuLevel, group: number): number[] {
  return [...topology].flatMap(([cpu, place]) => (place[level] === group ? [cpu] : []));
}
