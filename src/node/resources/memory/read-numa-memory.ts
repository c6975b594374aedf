import { formatQuantity } from "../../../api/quantity.ts";
import { codeOf } from "../../../base/errors.ts";
import type { Files, Machine } from "../../../host/port.ts";
import { readNumaNodes } from "../topology/read-numa-nodes.ts";

/** What a NUMA node has of memory. */
export interface NumaMemory {
  /** All of its memory in bytes, huge pages included. */
  readonly memoryBytes: number;
  /** The bytes of huge pages, by resource: `hugepages-2Mi`. */
  readonly hugepages: ReadonlyMap<string, number>;
}

/** What memory is read from. */
export interface NumaMemorySources {
  readonly files: Pick<Files, "list" | "read">;
  readonly machine: Pick<Machine, "memoryCapacityBytes" | "hugepages">;
}

const DIRECTORY = "/sys/devices/system/node";
const MAX_BYTES = 64 * 1024;

/** Reads the memory of each NUMA node; rejects where it cannot be read, or makes no sense. */
export async function readNumaMemory({ files, machine }: NumaMemorySources): Promise<ReadonlyMap<number, NumaMemory>> {
  const { nodes } = await readNumaNodes(files);
  const read = new Map<number, NumaMemory>();
  for (const node of nodes) {
    const memoryBytes = await readTotal(files, node);
    // A kernel without NUMA shows no nodes: the one that there is has all.
    if (memoryBytes === undefined && nodes.length === 1) return new Map([[node, await readWholeMachine(machine)]]);
    if (memoryBytes === undefined) throw new TypeError(`${DIRECTORY}/node${node}/meminfo is not there`);
    read.set(node, { memoryBytes, hugepages: await readHugepages(files, node) });
  }
  return read;
}

async function readTotal(files: Pick<Files, "read">, node: number): Promise<number | undefined> {
  const path = `${DIRECTORY}/node${node}/meminfo`;
  try {
    const text = (await files.read(path, MAX_BYTES)).toString();
    const kibibytes = /MemTotal:\s*(\d+) kB/.exec(text)?.[1];
    if (kibibytes === undefined) throw new TypeError(`${path} tells no MemTotal`);
    return Number(kibibytes) * 1024;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function readHugepages(files: Pick<Files, "list" | "read">, node: number): Promise<Map<string, number>> {
  const directory = `${DIRECTORY}/node${node}/hugepages`;
  const hugepages = new Map<string, number>();
  for (const { name } of await listOrNothing(files, directory)) {
    const kibibytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (kibibytes === undefined) continue;
    const pages = Number((await files.read(`${directory}/${name}/nr_hugepages`, MAX_BYTES)).toString().trim());
    if (!Number.isInteger(pages)) throw new TypeError(`${directory}/${name}/nr_hugepages is no number`);
    hugepages.set(hugepagesResource(BigInt(kibibytes) * 1024n), pages * Number(kibibytes) * 1024);
  }
  return hugepages;
}

async function listOrNothing(files: Pick<Files, "list">, directory: string) {
  try {
    return await files.list(directory);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function readWholeMachine(machine: NumaMemorySources["machine"]): Promise<NumaMemory> {
  const found = await machine.hugepages();
  const hugepages = found.map(
    ({ pageSizeBytes, pages }) => [hugepagesResource(pageSizeBytes), Number(pageSizeBytes * pages)] as const,
  );
  return { memoryBytes: Number(await machine.memoryCapacityBytes()), hugepages: new Map(hugepages) };
}

function hugepagesResource(pageSizeBytes: bigint): string {
  return `hugepages-${formatQuantity({ nanos: pageSizeBytes * 10n ** 9n, format: "BinarySI" })}`;
}
