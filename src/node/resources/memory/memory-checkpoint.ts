import { isRecord } from "../../../api/object.ts";
import { computeGoChecksum, goList, goMap, goNumberMap, goPointer, goStruct, goText } from "../checkpoints/go-dump.ts";
import type { MemoryAssignments } from "./memory-account.ts";
import type { MemoryBlock, MemoryState, MemoryTable, NumaNodeState } from "./memory-state.ts";

/** What is kept of memory on the disk. */
export interface MemoryCheckpoint {
  readonly policy: string;
  readonly state: MemoryState;
  readonly assignments: MemoryAssignments;
}

/** Writes upstream's format with its checksum (pkg/kubelet/cm/memorymanager/state), which a Go kubelet takes over. */
export function encodeMemoryCheckpoint(checkpoint: MemoryCheckpoint): string {
  const { policy, state, assignments } = checkpoint;
  const nodes = [...state].map(([node, { assignments: count, memory, cells }]) => {
    const tables = [...memory].map(([name, { total, systemReserved, allocatable, reserved, free }]) => {
      return [name, { total, systemReserved, allocatable, reserved, free }] as const;
    });
    return [node, { numberOfAssignments: count, memoryMap: Object.fromEntries(tables), cells }] as const;
  });
  const entries = mapContainers(assignments, (blocks) =>
    blocks.map(({ numaNodes, resource, size }) => ({ numaAffinity: numaNodes, type: resource, size })),
  );
  return JSON.stringify({
    policyName: policy,
    machineState: Object.fromEntries(nodes),
    ...(assignments.size > 0 && { entries }),
    checksum: computeChecksum(checkpoint),
  });
}

/** Throws an error that says what is wrong with the text, in upstream's words where it has some. */
export function decodeMemoryCheckpoint(text: string): MemoryCheckpoint {
  const file = recordOf(JSON.parse(text), "the file");
  const { policyName: policy, machineState, entries, checksum } = file;
  if (typeof policy !== "string") throw new TypeError("policyName is no text");
  const checkpoint = {
    policy,
    state: new Map(
      mapRecord(machineState, "machineState", readNode).map(([node, value]) => [Number(node), value] as const),
    ),
    assignments: new Map(mapRecord(entries, "entries", (of, path) => new Map(mapRecord(of, path, readBlocks)))),
  };
  const actual = computeChecksum(checkpoint);
  // Files of the oldest kubelets have none.
  if (checksum !== undefined && checksum !== 0 && checksum !== actual) {
    throw new TypeError(`checkpoint is corrupted: its checksum is ${String(checksum)}, not ${actual}`);
  }
  return checkpoint;
}

function readNode(value: unknown, path: string): NumaNodeState {
  const { numberOfAssignments, memoryMap, cells } = recordOf(value, path);
  const tables = mapRecord(memoryMap, `${path}.memoryMap`, (table, tablePath): MemoryTable => {
    const of = recordOf(table, tablePath);
    const read = (name: string) => numberOf(of[name], `${tablePath}.${name}`);
    const [total, systemReserved, allocatable] = [read("total"), read("systemReserved"), read("allocatable")];
    return { total, systemReserved, allocatable, reserved: read("reserved"), free: read("free") };
  });
  return {
    assignments: numberOf(numberOfAssignments, `${path}.numberOfAssignments`),
    cells: numbersOf(cells, `${path}.cells`),
    memory: new Map(tables),
  };
}

function readBlocks(value: unknown, path: string): MemoryBlock[] {
  if (!Array.isArray(value)) throw new TypeError(`${path} is no list`);
  return value.map((block: unknown, index) => {
    const at = `${path}[${index}]`;
    const { numaAffinity, type, size } = recordOf(block, at);
    if (typeof type !== "string") throw new TypeError(`${at}.type is no text`);
    return {
      numaNodes: numbersOf(numaAffinity, `${at}.numaAffinity`),
      resource: type,
      size: numberOf(size, `${at}.size`),
    };
  });
}

/** What is not there is empty. */
function mapRecord<T>(value: unknown, path: string, read: (value: unknown, path: string) => T): Array<[string, T]> {
  if (value === undefined || value === null) return [];
  return Object.entries(recordOf(value, path)).map(([name, item]) => [name, read(item, `${path}[${name}]`)]);
}

function recordOf(value: unknown, path: string): Record<string, unknown> {
  if (!isRecord(value)) throw new TypeError(`${path} is no object`);
  return value;
}

function numbersOf(value: unknown, path: string): number[] {
  if (!Array.isArray(value)) throw new TypeError(`${path} is no list`);
  return value.map((item: unknown, index) => numberOf(item, `${path}[${index}]`));
}

function numberOf(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`${path} is no amount`);
}

function mapContainers<T>(
  assignments: MemoryAssignments,
  write: (blocks: readonly MemoryBlock[]) => T,
): Record<string, Record<string, T>> {
  const pods = [...assignments].map(([uid, containers]) => {
    return [uid, Object.fromEntries([...containers].map(([name, blocks]) => [name, write(blocks)] as const))] as const;
  });
  return Object.fromEntries(pods);
}

function computeChecksum({ policy, state, assignments }: MemoryCheckpoint): number {
  const numbers = (items: readonly number[]) => goList(items, goText);
  const table = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable) =>
    goPointer(
      goStruct([
        ["TotalMemSize", "uint64", goText(total)],
        ["SystemReserved", "uint64", goText(systemReserved)],
        ["Allocatable", "uint64", goText(allocatable)],
        ["Reserved", "uint64", goText(reserved)],
        ["Free", "uint64", goText(free)],
      ]),
    );
  const node = ({ assignments: count, memory, cells }: NumaNodeState) =>
    goPointer(
      goStruct([
        ["NumberOfAssignments", "int", goText(count)],
        ["MemoryMap", "map[v1.ResourceName]*state.MemoryTable", goMap(Object.fromEntries(memory), table)],
        ["Cells", "[]int", numbers(cells)],
      ]),
    );
  const block = ({ numaNodes, resource, size }: MemoryBlock) =>
    goStruct([
      ["NUMAAffinity", "[]int", numbers(numaNodes)],
      ["Type", "v1.ResourceName", goText(resource)],
      ["Size", "uint64", goText(size)],
    ]);
  const entries = mapContainers(assignments, (blocks) => goList(blocks, block));
  return computeGoChecksum({
    type: "*state.MemoryManagerCheckpoint",
    value: goStruct([
      ["PolicyName", "string", goText(policy)],
      ["MachineState", "state.NUMANodeMap", goNumberMap(state, node)],
      [
        "Entries",
        "state.ContainerMemoryAssignments",
        goMap(entries, (containers) => goMap(containers, (blocks) => blocks)),
      ],
      ["Checksum", "checksum.Checksum", goText(0)],
    ]),
  });
}
