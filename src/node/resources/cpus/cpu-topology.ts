import { type CpuSet, parseCpuList } from "../../../base/cpu-list.ts";
import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import { readNumaNodes } from "../topology/read-numa-nodes.ts";

/** Where a CPU sits. Cores and caches are named by the lowest of their CPUs. */
export interface CpuPlace {
  readonly core: number;
  /** The last-level cache that the CPU shares; CPUs of a socket that shows none share one. */
  readonly cache: number;
  readonly socket: number;
  readonly numaNode: number;
}

/** The CPUs of the machine that are online. */
export type CpuTopology = ReadonlyMap<number, CpuPlace>;

const DIRECTORY = "/sys/devices/system";
const MAX_BYTES = 64 * 1024;

/** Reads the kernel's trees of CPUs and NUMA nodes; rejects where they cannot be read, or make no sense. */
export async function readCpuTopology(files: Pick<Files, "list" | "read">): Promise<CpuTopology> {
  const online = await readList(files, `${DIRECTORY}/cpu/online`);
  const nodeOf = await readNodesOfCpus(files);
  const topology = new Map<number, CpuPlace>();
  const firstOfSockets = new Map<number, number>();
  for (const cpu of online) {
    const directory = `${DIRECTORY}/cpu/cpu${cpu}/topology`;
    const siblings = await readList(files, `${directory}/thread_siblings_list`);
    const socket = Number((await files.read(`${directory}/physical_package_id`, MAX_BYTES)).toString().trim());
    if (!Number.isInteger(socket)) throw new TypeError(`${directory}/physical_package_id is no number`);
    firstOfSockets.set(socket, firstOfSockets.get(socket) ?? cpu);
    const sharers = (await readSharersOfCache(files, cpu)) ?? new Set([firstOfSockets.get(socket) ?? cpu]);
    const [core, cache] = [Math.min(cpu, ...siblings), Math.min(...sharers)];
    topology.set(cpu, { core, cache, socket, numaNode: nodeOf(cpu) });
  }
  return topology;
}

/** How many CPUs a core has. */
export function countCpusOfCore(topology: CpuTopology): number {
  return Math.floor(topology.size / new Set([...topology.values()].map(({ core }) => core)).size);
}

/** All CPUs of the cores to which these belong. */
export function withSiblings(topology: CpuTopology, cpus: CpuSet): Set<number> {
  const cores = new Set([...cpus].map((cpu) => topology.get(cpu)?.core));
  return new Set([...topology].flatMap(([cpu, { core }]) => (cores.has(core) ? [cpu] : [])));
}

/** The CPUs that share the third level of caches, where the kernel shows one. */
async function readSharersOfCache(files: Pick<Files, "list" | "read">, cpu: number): Promise<CpuSet | undefined> {
  const directory = `${DIRECTORY}/cpu/cpu${cpu}/cache`;
  const entries = await files.list(directory).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  for (const { name } of entries) {
    if (!/^index\d+$/.test(name)) continue;
    const level = (await files.read(`${directory}/${name}/level`, MAX_BYTES)).toString().trim();
    if (level === "3") return await readList(files, `${directory}/${name}/shared_cpu_list`);
  }
  return undefined;
}

async function readNodesOfCpus(files: Pick<Files, "list" | "read">): Promise<(cpu: number) => number> {
  const { nodes } = await readNumaNodes(files);
  const cpusOfNodes = new Map<number, CpuSet>();
  for (const node of nodes) {
    try {
      cpusOfNodes.set(node, await readList(files, `${DIRECTORY}/node/node${node}/cpulist`));
    } catch (error) {
      // A kernel without NUMA shows no nodes.
      if (codeOf(error) !== "ENOENT" || nodes.length > 1) throw error;
    }
  }
  return (cpu) => [...cpusOfNodes].find(([, cpus]) => cpus.has(cpu))?.[0] ?? nodes[0] ?? 0;
}

async function readList(files: Pick<Files, "read">, path: string): Promise<CpuSet> {
  const text = (await files.read(path, MAX_BYTES)).toString().trim();
  const cpus = parseCpuList(text);
  if (cpus === undefined) throw new TypeError(`${path} is no list of CPUs: ${JSON.stringify(text)}`);
  return cpus;
}
