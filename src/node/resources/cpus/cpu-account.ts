import { type CpuSet, withoutCpus } from "../../../base/cpu-list.ts";
import type { CpuCheckpoint } from "./cpu-checkpoint.ts";

/** Which containers have which CPUs for themselves. It is the only account of them; the checkpoint is its copy on the disk. */
export interface CpuAccount {
  assign(podUid: string, container: string, cpus: CpuSet): void;
  /** The container's own CPUs; undefined where it has none. */
  ofContainer(podUid: string, container: string): CpuSet | undefined;
  /** What containers of the pod have, by name. */
  ofPod(podUid: string): ReadonlyMap<string, CpuSet>;
  /** The CPUs that some container has. */
  inUse(): Set<number>;
  /** The CPUs of all others. */
  shared(): Set<number>;
  release(podUid: string): void;
  /** Releases all pods but these. */
  releaseOthers(keep: ReadonlySet<string>): void;
  list(): CpuCheckpoint["exclusive"];
}

/** `all` are the CPUs that containers may run on. */
export function createCpuAccount(all: CpuSet, restored: CpuCheckpoint["exclusive"]): CpuAccount {
  const pods = new Map([...restored].map(([uid, containers]) => [uid, new Map(containers)]));
  const inUse = () => new Set([...pods.values()].flatMap((of) => [...of.values()].flatMap((cpus) => [...cpus])));
  return {
    assign(podUid, container, cpus) {
      pods.set(podUid, (pods.get(podUid) ?? new Map<string, CpuSet>()).set(container, cpus));
    },
    ofContainer: (podUid, container) => pods.get(podUid)?.get(container),
    ofPod: (podUid) => pods.get(podUid) ?? new Map(),
    inUse,
    shared: () => withoutCpus(all, inUse()),
    release: (podUid) => pods.delete(podUid),
    releaseOthers(keep) {
      for (const podUid of [...pods.keys()]) if (!keep.has(podUid)) pods.delete(podUid);
    },
    list: () => pods,
  };
}
