import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import type { MergePolicy } from "./merge-hints.ts";

/** The NUMA nodes of the machine, in order, and how far they are from each other. */
interface NumaNodes {
  readonly nodes: readonly number[];
  readonly distances: NonNullable<MergePolicy["distances"]>;
}

const DIRECTORY = "/sys/devices/system/node";
const MAX_BYTES = 64 * 1024;
/** A kernel without NUMA has one node, which it does not show. */
const ONE_NODE: NumaNodes = { nodes: [0], distances: new Map([[0, new Map([[0, 10]])]]) };

/** Reads the kernel's tree of NUMA nodes; rejects where it cannot be read, or is none. */
export async function readNumaNodes(files: Pick<Files, "list" | "read">): Promise<NumaNodes> {
  const nodes = await listNodes(files);
  if (nodes.length === 0) return ONE_NODE;
  const distances = new Map<number, ReadonlyMap<number, number>>();
  for (const node of nodes) {
    const path = `${DIRECTORY}/node${node}/distance`;
    const told = (await files.read(path, MAX_BYTES)).toString().trim().split(/\s+/).map(Number);
    if (told.length !== nodes.length || !told.every(Number.isInteger)) {
      throw new TypeError(`${path} does not tell ${nodes.length} distances`);
    }
    distances.set(node, new Map(nodes.map((other, index) => [other, told[index] ?? 0])));
  }
  return { nodes, distances };
}

async function listNodes(files: Pick<Files, "list">): Promise<number[]> {
  try {
    const entries = await files.list(DIRECTORY);
    const numbers = entries.flatMap(({ name }) => /^node(\d+)$/.exec(name)?.slice(1).map(Number) ?? []);
    return numbers.sort((a, b) => a - b);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
