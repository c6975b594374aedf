import type { CpuSettings } from "../../../config/cpu-settings.ts";
import { type CpuGroups, type CpuRequest, createCpuGroups } from "./cpu-groups.ts";
import { type CpuTopology, countCpusOfCore } from "./cpu-topology.ts";
import { divideCpus } from "./divide-cpus.ts";

/** Which CPUs belong together. */
export type CpuPreferences = Pick<
  CpuSettings,
  "alignsToSockets" | "dividesAcrossNumaNodes" | "prefersOneCache" | "spreadsAcrossCores" | "wholeCoresOnly"
>;

/** Chooses CPUs that belong together, as upstream's (cpumanager/cpu_assignment.go). Undefined: there are too few. */
export function takeCpus(request: CpuRequest, preferences: CpuPreferences): ReadonlySet<number> | undefined {
  const { topology, wanted } = request;
  if (preferences.dividesAcrossNumaNodes) {
    const groupSize = preferences.wholeCoresOnly ? countCpusOfCore(topology) : 1;
    const { alignsToSockets } = preferences;
    const take = (each: CpuRequest) => packCpus(each, preferences) ?? new Set<number>();
    const divided = wanted > 0 && divideCpus(request, { groupSize, alignsToSockets, take });
    if (divided) return divided;
  }
  return packCpus(request, preferences);
}

/**
 * Takes CPUs that are close to each other: whole NUMA nodes and sockets, the larger of the two first, then whole caches
 * and cores, then what is left, from where the least is free.
 */
function packCpus(
  request: CpuRequest,
  { prefersOneCache, spreadsAcrossCores }: CpuPreferences,
): ReadonlySet<number> | undefined {
  const groups = createCpuGroups(request);
  const steps = [
    ...groups.outer.map((level) => () => groups.takeWhole(level)),
    ...(prefersOneCache ? [() => takeCaches(groups, request.topology)] : []),
    ...(spreadsAcrossCores ? [] : [() => groups.takeWhole("core")]),
    () => takeRest(groups, spreadsAcrossCores ? "socket" : "core"),
  ];
  for (const step of steps) if (groups.missing() > 0) step();
  return groups.missing() > 0 ? undefined : groups.taken;
}

/** Whole caches, and then the first one that has all the rest on as few cores as can be. */
function takeCaches(groups: CpuGroups, topology: CpuTopology): void {
  groups.takeWhole("cache");
  const missing = groups.missing();
  if (missing === 0) return;
  const count = Math.ceil(missing / countCpusOfCore(topology));
  for (const cache of groups.list("cache")) {
    const free = groups.freeIn("cache", cache);
    const coreOf = (cpu: number) => topology.get(cpu)?.core ?? cpu;
    const cores = new Set([...new Set(free.map(coreOf))].sort((a, b) => a - b).slice(0, count));
    const cpus = free.filter((cpu) => cores.has(coreOf(cpu)));
    if (cpus.length < missing) continue;
    groups.take(cpus.slice(0, missing));
    return;
  }
}

function takeRest(groups: CpuGroups, level: "core" | "socket"): void {
  const rest = groups.list(level).flatMap((group) => groups.freeIn(level, group));
  groups.take(rest.slice(0, groups.missing()));
}
