import type { Pod } from "../../../api/gen/types.ts";
import { NODE_TAINTS } from "../../../api/node-names.ts";
import { isCriticalPod, podUid } from "../../../api/pods.ts";
import { computeQosClass } from "../../../api/qos.ts";
import { findUntolerated } from "../../../api/tolerations.ts";
import type { AdmitHandler } from "./pod-rejection.ts";

/** The node's shortages, and the pods that it runs already. */
interface PressureAdmission {
  /** True for each resource that the node is short of. */
  pressure(): Readonly<Record<PressureKind, boolean>>;
  /**
   * Something of the pod runs: the node agent before this one admitted it. Whether it goes is decided by the eviction,
   * which knows what it uses.
   */
  isRunning(podUid: string): boolean;
}

type PressureKind = "memory" | "disk" | "pid";

const CONDITIONS: Readonly<Record<PressureKind, string>> = {
  memory: "MemoryPressure",
  disk: "DiskPressure",
  pid: "PIDPressure",
};
const MEMORY_TAINT = { key: NODE_TAINTS.memoryPressure, effect: "NoSchedule" };

/**
 * Refuses pods that would make a shortage worse: under pressure of memory alone, best-effort pods that do not tolerate
 * it; under any other pressure, all pods but critical ones. Upstream's `Admit`
 * (pkg/kubelet/eviction/eviction_manager.go).
 */
export function createPressureHandler({ pressure, isRunning }: PressureAdmission): AdmitHandler {
  return (pod) => {
    const { memory, disk, pid } = pressure();
    const known = { memory, disk, pid };
    const kinds = (["memory", "disk", "pid"] as const).filter((kind) => known[kind]);
    if (kinds.length === 0 || isCriticalPod(pod) || isRunning(podUid(pod))) return undefined;
    if (memory && !disk && !pid && mayBeWithLittleMemory(pod)) return undefined;
    const conditions = kinds.map((kind) => CONDITIONS[kind]).join(" ");
    return { reason: "Evicted", message: `The node had condition: [${conditions}]. ` };
  };
}

function mayBeWithLittleMemory(pod: Pod): boolean {
  if (computeQosClass(pod) !== "BestEffort") return true;
  return findUntolerated([MEMORY_TAINT], pod.spec?.tolerations ?? [], [MEMORY_TAINT.effect]) === undefined;
}
