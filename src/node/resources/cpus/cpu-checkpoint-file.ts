import { formatCpuList, withoutCpus } from "../../../base/cpu-list.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Files } from "../../../host/port.ts";
import { keepUnusedCheckpoint } from "../checkpoints/unused-checkpoint.ts";
import type { CpuAccount } from "./cpu-account.ts";
import { type CpuCheckpoint, decodeCpuCheckpoint, encodeCpuCheckpoint } from "./cpu-checkpoint.ts";
import type { CpuPools } from "./reserve-cpus.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const FILE_MODE = 0o600;
const POLICY = "static";
const NO_POLICY = "none";
const NAME = "cpu_manager_state";

/** Reads who has which CPUs. Rejects where the file cannot be what this node agent, or a Go kubelet, has written. */
export async function restoreCpus(
  files: Pick<Files, "read">,
  path: string,
  pools: CpuPools,
): Promise<CpuCheckpoint["exclusive"]> {
  return (await readCpus(files, path, (found) => findCheckpointProblem(found, pools)))?.exclusive ?? new Map();
}

/** Keeps the checkpoint of a node whose CPUs all share. Rejects where another policy has left its own. */
export async function keepSharedCpus(
  files: Pick<Files, "makeDirectory" | "read" | "stat" | "writeAtomically">,
  directory: string,
): Promise<void> {
  const findProblem = ({ policy }: CpuCheckpoint) =>
    policy === NO_POLICY ? undefined : describeChange(NO_POLICY, policy);
  await keepUnusedCheckpoint(files, {
    directory,
    name: NAME,
    text: encodeCpuCheckpoint({ policy: NO_POLICY, shared: new Set(), exclusive: new Map() }),
    check: async (path) => {
      await readCpus(files, path, findProblem);
    },
  });
}

function describeChange(policy: string, found: string): string {
  return `configured policy "${policy}" differs from state checkpoint policy "${found}"`;
}

/** Undefined: there is no file. */
async function readCpus(
  files: Pick<Files, "read">,
  path: string,
  findProblem: (found: CpuCheckpoint) => string | undefined,
): Promise<CpuCheckpoint | undefined> {
  try {
    const found = decodeCpuCheckpoint((await files.read(path, MAX_BYTES)).toString());
    const problem = findProblem(found);
    if (problem !== undefined) throw new TypeError(problem);
    return found;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    const mend = `drain this node and delete the CPU manager checkpoint file "${path}" before starting again`;
    throw new Error(`could not restore state from checkpoint: ${messageOf(error)}, please ${mend}`, { cause: error });
  }
}

/** Upstream's `validateState` (cpumanager/policy_static.go). */
export function findCheckpointProblem(
  { policy, shared, exclusive }: CpuCheckpoint,
  { topology, reserved, usable, isStrict }: CpuPools,
): string | undefined {
  if (policy !== POLICY) return describeChange(POLICY, policy);
  const sets = [...exclusive].flatMap(([pod, of]) => [...of].map(([container, cpus]) => ({ pod, container, cpus })));
  if (shared.size === 0 && sets.length === 0) return undefined;
  const text = formatCpuList(shared);
  if (isStrict) {
    const common = new Set([...reserved].filter((cpu) => shared.has(cpu)));
    if (common.size > 0) {
      return `some of strictly reserved cpus: "${formatCpuList(common)}" are present in defaultCpuSet: "${text}"`;
    }
  } else if (withoutCpus(reserved, shared).size > 0) {
    return `not all reserved cpus: "${formatCpuList(reserved)}" are present in defaultCpuSet: "${text}"`;
  }
  for (const { pod, container, cpus } of sets) {
    if ([...cpus].every((cpu) => !shared.has(cpu))) continue;
    return `pod: ${pod}, container: ${container} cpuset: "${formatCpuList(cpus)}" overlaps with default cpuset "${text}"`;
  }
  const known = formatCpuList(new Set([...shared, ...sets.flatMap(({ cpus }) => [...cpus])]));
  if (known === formatCpuList(usable)) return undefined;
  const machine = formatCpuList(new Set(isStrict ? usable : topology.keys()));
  return `current set of available CPUs "${machine}" doesn't match with CPUs in state "${known}"`;
}

/** Returns what brings the account to the disk; it does nothing where the disk has it. Rejects as the disk does. */
export function createCpuSaver(
  files: Pick<Files, "writeAtomically">,
  account: Pick<CpuAccount, "list" | "shared">,
  path: string,
): () => Promise<void> {
  const writes = createLimiter(1);
  let written: string | undefined;
  const write = async () => {
    const text = encodeCpuCheckpoint({ policy: POLICY, shared: account.shared(), exclusive: account.list() });
    if (text === written) return;
    await files.writeAtomically(path, text, FILE_MODE);
    written = text;
  };
  return async () => await writes.run(write);
}
