import { isRecord } from "../../../api/object.ts";
import { type CpuSet, formatCpuList, parseCpuList } from "../../../base/cpu-list.ts";
import { computeGoChecksum, goMap, goStruct, goText } from "../checkpoints/go-dump.ts";

/** What is kept of CPUs on the disk. */
export interface CpuCheckpoint {
  readonly policy: string;
  /** The CPUs that containers without CPUs of their own share. */
  readonly shared: CpuSet;
  /** By pod and container. */
  readonly exclusive: ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;
}

type RawEntries = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Writes upstream's format with its checksum (pkg/kubelet/cm/cpumanager/state), which a Go kubelet takes over. */
export function encodeCpuCheckpoint({ policy, shared, exclusive }: CpuCheckpoint): string {
  const pods = [...exclusive].map(([uid, containers]) => {
    const lists = [...containers].map(([name, cpus]) => [name, formatCpuList(cpus)] as const);
    return [uid, Object.fromEntries(lists)] as const;
  });
  const [defaultCpuSet, entries] = [formatCpuList(shared), Object.fromEntries(pods)];
  const checksum = computeChecksum(policy, defaultCpuSet, entries);
  return JSON.stringify({ policyName: policy, defaultCpuSet, ...(pods.length > 0 && { entries }), checksum });
}

/** Throws an error that says what is wrong with the text, in upstream's words where it has some. */
export function decodeCpuCheckpoint(text: string): CpuCheckpoint {
  const file: unknown = JSON.parse(text);
  if (!isRecord(file)) throw new TypeError("not an object");
  const { policyName: policy, defaultCpuSet, checksum } = file;
  if (typeof policy !== "string" || typeof defaultCpuSet !== "string") {
    throw new TypeError("policyName or defaultCpuSet is no text");
  }
  const entries = readEntries(file["entries"]);
  const actual = computeChecksum(policy, defaultCpuSet, entries);
  // Files of the oldest kubelets have none.
  if (checksum !== undefined && checksum !== 0 && checksum !== actual) {
    throw new TypeError(`checkpoint is corrupted: its checksum is ${String(checksum)}, not ${actual}`);
  }
  const shared = parseCpuList(defaultCpuSet);
  if (shared === undefined) throw new TypeError(`could not parse default cpu set "${defaultCpuSet}"`);
  const exclusive = Object.entries(entries).map(([uid, containers]) => {
    const sets = Object.entries(containers).map(([name, list]) => {
      const cpus = parseCpuList(list);
      if (cpus !== undefined) return [name, cpus] as const;
      throw new TypeError(`could not parse cpuset "${list}" for container "${name}" in pod "${uid}"`);
    });
    return [uid, new Map(sets)] as const;
  });
  return { policy, shared, exclusive: new Map(exclusive) };
}

function computeChecksum(policy: string, defaultCpuSet: string, entries: RawEntries): number {
  return computeGoChecksum({
    type: "*state.CPUManagerCheckpoint",
    value: goStruct([
      ["PolicyName", "string", goText(policy)],
      ["DefaultCPUSet", "string", goText(defaultCpuSet)],
      ["Entries", "map[string]map[string]string", goMap(entries, (ofPod) => goMap(ofPod, goText))],
      ["Checksum", "checksum.Checksum", goText(0)],
    ]),
  });
}

function readEntries(value: unknown): RawEntries {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new TypeError("entries is no object");
  const pods = Object.entries(value).map(([uid, containers]) => {
    if (!isRecord(containers)) throw new TypeError(`entries[${uid}] is no object`);
    const lists = Object.entries(containers).map(([name, list]) => {
      if (typeof list !== "string") throw new TypeError(`entries[${uid}][${name}] is no text`);
      return [name, list] as const;
    });
    return [uid, Object.fromEntries(lists)] as const;
  });
  return Object.fromEntries(pods);
}
