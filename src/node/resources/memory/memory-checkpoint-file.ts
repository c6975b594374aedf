import { codeOf, messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Files } from "../../../host/port.ts";
import { keepUnusedCheckpoint } from "../checkpoints/unused-checkpoint.ts";
import type { MemoryAccount, MemoryAssignments } from "./memory-account.ts";
import { decodeMemoryCheckpoint, encodeMemoryCheckpoint, type MemoryCheckpoint } from "./memory-checkpoint.ts";
import type { MemoryPools } from "./memory-pools.ts";
import { computeMemoryState, isSameGroup, type MemoryState } from "./memory-state.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o750;
const POLICY = "Static";
const NO_POLICY = "None";
const NAME = "memory_manager_state";

/** Reads who has which memory. Rejects where the file cannot be what this node agent, or a Go kubelet, has written. */
export async function restoreMemory(
  files: Pick<Files, "read">,
  path: string,
  pools: MemoryPools,
): Promise<MemoryAssignments> {
  return (await readMemory(files, path, (found) => findMemoryProblem(found, pools)))?.assignments ?? new Map();
}

/** Keeps the checkpoint of a node whose memory all share. Rejects where another policy has left its own. */
export async function keepSharedMemory(
  files: Pick<Files, "makeDirectory" | "read" | "stat" | "writeAtomically">,
  directory: string,
): Promise<void> {
  const findProblem = ({ policy }: MemoryCheckpoint) =>
    policy === NO_POLICY ? undefined : describeChange(NO_POLICY, policy);
  await keepUnusedCheckpoint(files, {
    directory,
    name: NAME,
    text: encodeMemoryCheckpoint({ policy: NO_POLICY, state: new Map(), assignments: new Map() }),
    check: async (path) => {
      await readMemory(files, path, findProblem);
    },
  });
}

function describeChange(policy: string, found: string): string {
  return `configured policy "${policy}" differs from state checkpoint policy "${found}"`;
}

/** Undefined: there is no file. */
async function readMemory(
  files: Pick<Files, "read">,
  path: string,
  findProblem: (found: MemoryCheckpoint) => string | undefined,
): Promise<MemoryCheckpoint | undefined> {
  try {
    const found = decodeMemoryCheckpoint((await files.read(path, MAX_BYTES)).toString());
    const problem = findProblem(found);
    if (problem !== undefined) throw new TypeError(`[memorymanager] ${problem}`);
    return found;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    const mend = `drain this node and delete the memory manager checkpoint file "${path}" before starting again`;
    throw new Error(`could not restore state from checkpoint: ${messageOf(error)}, please ${mend}`, { cause: error });
  }
}

/** Upstream's `validateState` (cm/memorymanager/policy_static.go). */
export function findMemoryProblem(
  { policy, state, assignments }: MemoryCheckpoint,
  pools: MemoryPools,
): string | undefined {
  if (policy !== POLICY) return describeChange(POLICY, policy);
  if (state.size === 0) {
    return assignments.size === 0 ? undefined : "machine state can not be empty when it has memory assignments";
  }
  for (const [pod, containers] of assignments) {
    for (const [container, blocks] of containers) {
      for (const { numaNodes, resource } of blocks) {
        const unknown = numaNodes.find((node) => pools.get(node)?.has(resource) !== true);
        if (unknown === undefined) continue;
        const what = pools.has(unknown) ? "memory resource" : "NUMA";
        return `(pod: ${pod}, container: ${container}) the memory assignment uses the ${what} that does not exist`;
      }
    }
  }
  const blocks = [...assignments.values()].flatMap((containers) => [...containers.values()].flat());
  const isSame = isSameState(state, computeMemoryState(pools, blocks));
  return isSame ? undefined : "the expected machine state is different from the real one";
}

/** Which node of a group gives how much depends on the order of what was given: only the sums of groups count. */
function isSameState(found: MemoryState, expected: MemoryState): boolean {
  if (found.size !== expected.size) return false;
  for (const [node, { assignments, cells, memory }] of expected) {
    const other = found.get(node);
    if (other === undefined || other.assignments !== assignments || other.memory.size !== memory.size) return false;
    if (!isSameGroup(other.cells, cells)) return false;
    for (const [name, { total, systemReserved, allocatable }] of memory) {
      const table = other.memory.get(name);
      if (table?.total !== total || table.systemReserved !== systemReserved) return false;
      if (table.allocatable !== allocatable) return false;
      const sum = (state: MemoryState, of: "free" | "reserved") =>
        cells.reduce((bytes, cell) => bytes + (state.get(cell)?.memory.get(name)?.[of] ?? 0), 0);
      if (sum(found, "free") !== sum(expected, "free")) return false;
      if (sum(found, "reserved") !== sum(expected, "reserved")) return false;
    }
  }
  return true;
}

/**
 * Writes the account when the node begins: what reads the file knows what there is to give away before any is given, as
 * upstream's `validateState` has it. A disk that takes no file must not keep the node agent from starting, and what is given
 * is given only once the file has it.
 */
export async function beginCheckpoint(
  files: Pick<Files, "makeDirectory" | "stat">,
  directory: string,
  save: () => Promise<void>,
): Promise<void> {
  try {
    if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, DIRECTORY_MODE);
    await save();
  } catch {
    // The next pod that is given memory has it written, or is refused.
  }
}

/** Returns what brings the account to the disk; it does nothing where the disk has it. Rejects as the disk does. */
export function createMemorySaver(
  files: Pick<Files, "writeAtomically">,
  account: Pick<MemoryAccount, "list" | "state">,
  path: string,
): () => Promise<void> {
  const writes = createLimiter(1);
  let written: string | undefined;
  const write = async () => {
    const text = encodeMemoryCheckpoint({ policy: POLICY, state: account.state(), assignments: account.list() });
    if (text === written) return;
    await files.writeAtomically(path, text, FILE_MODE);
    written = text;
  };
  return async () => await writes.run(write);
}
