import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { FitVerdict, RoomWanted } from "./fit.ts";
import { type AdmitHandler, createAdmission, type PodRejection } from "./pod-rejection.ts";

/** Undefined: the pod may run here; `undecided`: it is asked about again. */
export type PodVerdict = PodRejection | "undecided" | undefined;

interface PodAdmissionDeps {
  /** Asked before whether the pod fits, in order; upstream has its eviction first of all. Default: none. */
  readonly firstRules?: readonly AdmitHandler[];
  findMisfit(pod: Pod): FitVerdict;
  /** What else the node asks of a pod, in order. */
  readonly rules: readonly AdmitHandler[];
  readonly preemption: {
    makeRoom(pod: Pod, wanted: RoomWanted): PodRejection | "undecided";
    /** The verdict is there, whichever it is: nothing is kept for the pod any longer. */
    release(uid: string): void;
  };
  /** Told of each refusal, by its reason. */
  readonly onRejected?: ((reason: string) => void) | undefined;
}

/**
 * Which pods may run here. A critical pod that lacks resources only gets room at others' expense, and not before
 * everything else has let it in, so that nobody ends for a pod that is refused.
 */
export function createPodAdmission(deps: PodAdmissionDeps): (pod: Pod) => PodVerdict {
  const { findMisfit, preemption, onRejected } = deps;
  const findFirstRejection = createAdmission(deps.firstRules ?? []);
  const findRejection = createAdmission(deps.rules);
  const judge = (pod: Pod): PodVerdict => {
    const rejection = findFirstRejection(pod);
    if (rejection !== undefined) return rejection;
    const misfit = findMisfit(pod);
    if (misfit !== undefined && !isRoomWanted(misfit)) return misfit;
    return findRejection(pod) ?? (misfit && preemption.makeRoom(pod, misfit));
  };
  return (pod) => {
    const verdict = judge(pod);
    if (verdict === "undecided") return verdict;
    preemption.release(podUid(pod));
    if (verdict !== undefined) onRejected?.(verdict.reason);
    return verdict;
  };
}

function isRoomWanted(verdict: Exclude<FitVerdict, undefined>): verdict is RoomWanted {
  return typeof verdict === "object" && "missing" in verdict;
}
