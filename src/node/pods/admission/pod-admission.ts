import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { FitVerdict, RoomWanted } from "./fit.ts";
import { type AdmitHandler, createAdmission, type PodRejection } from "./pod-rejection.ts";

/** Undefined: the pod may run here; `undecided`: the pod is asked about again. */
export type PodVerdict = PodRejection | "undecided" | undefined;

interface PodAdmissionDeps {
  /**
   * Rules that come before the question whether the pod fits, in order; upstream puts its eviction first. Default:
   * none.
   */
  readonly firstRules?: readonly AdmitHandler[];
  findMisfit(pod: Pod): FitVerdict;
  /** What is given to a pod before it is measured, and what it gets back when it is not let in. Default: nothing. */
  readonly allocation?: {
    admit(pod: Pod): PodVerdict;
    settle(uid: string, verdict: "admitted" | "refused"): void;
  };
  /** The other rules, in order. */
  readonly rules: readonly AdmitHandler[];
  readonly preemption: {
    makeRoom(pod: Pod, wanted: RoomWanted): PodRejection | "undecided";
    /** There is a verdict, for or against the pod: no room is kept for it any longer. */
    release(uid: string): void;
  };
  /** Called for each refusal, with its reason. */
  readonly onRejected?: ((reason: string) => void) | undefined;
}

/**
 * Decides which pods may run here. A critical pod that only lacks resources gets room at the expense of others, but not
 * before all other rules have admitted it, so that no pod ends for one that is refused.
 */
export function createPodAdmission(deps: PodAdmissionDeps): (pod: Pod) => PodVerdict {
  const { findMisfit, preemption, onRejected } = deps;
  const findFirstRejection = createAdmission(deps.firstRules ?? []);
  const findRejection = createAdmission(deps.rules);
  const judge = (pod: Pod): PodVerdict => {
    const rejection = findFirstRejection(pod);
    if (rejection !== undefined) return rejection;
    const allocated = deps.allocation?.admit(pod);
    if (allocated !== undefined) return allocated;
    const misfit = findMisfit(pod);
    if (misfit !== undefined && !isRoomWanted(misfit)) return misfit;
    return findRejection(pod) ?? (misfit && preemption.makeRoom(pod, misfit));
  };
  return (pod) => {
    const verdict = judge(pod);
    if (verdict === "undecided") return verdict;
    preemption.release(podUid(pod));
    deps.allocation?.settle(podUid(pod), verdict === undefined ? "admitted" : "refused");
    if (verdict !== undefined) onRejected?.(verdict.reason);
    return verdict;
  };
}

function isRoomWanted(verdict: Exclude<FitVerdict, undefined>): verdict is RoomWanted {
  return typeof verdict === "object" && "missing" in verdict;
}
