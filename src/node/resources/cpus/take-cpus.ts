import type { CpuSet } from "../../../base/cpu-list.ts";
import type { CpuPlace, CpuTopology } from "./cpu-topology.ts";

type Level = keyof CpuPlace;

/**
 * Chooses CPUs that are close to each other, as upstream's `takeByTopologyNUMAPacked` (cpumanager/cpu_assignment.go): whole
 * NUMA nodes and sockets, the larger of the two first, then whole cores, then what is left, from where the least is free.
 * Undefined: there are too few.
 */
export function takeCpus(topology: CpuTopology, available: CpuSet, wanted: number): Set<number> | undefined {
  const free = new Map([...topology].filter(([cpu]) => available.has(cpu)));
  if (wanted > free.size) return undefined;
  const levels = rankLevels(topology);
  const taken = new Set<number>();
  const take = (cpus: readonly number[]) => {
    for (const cpu of cpus) {
      taken.add(cpu);
      free.delete(cpu);
    }
  };
  for (const [depth, level] of levels.entries()) {
    const groups = listGroups(free, levels.slice(0, depth + 1));
    for (const group of groups) {
      const cpus = cpusIn(topology, level, group);
      const isFree = cpus.every((cpu) => free.has(cpu));
      if (isFree && cpus.length <= wanted - taken.size) take(cpus);
    }
  }
  const rest = listGroups(free, levels).flatMap((core) => cpusIn(free, "core", core).sort((a, b) => a - b));
  take(rest.slice(0, wanted - taken.size));
  return taken;
}

/** A NUMA node may hold several sockets, or a socket several NUMA nodes. */
function rankLevels(topology: CpuTopology): readonly Level[] {
  const count = (level: Level) => new Set([...topology.values()].map((place) => place[level])).size;
  return count("socket") >= count("numaNode") ? ["numaNode", "socket", "core"] : ["socket", "numaNode", "core"];
}

/** The groups of the innermost level in which CPUs are free; within each group around them, the one with the fewest first. */
function listGroups(free: CpuTopology, levels: readonly Level[]): number[] {
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

function cpusIn(topology: CpuTopology, level: Level, group: number): number[] {
  return [...topology].flatMap(([cpu, place]) => (place[level] === group ? [cpu] : []));
}
