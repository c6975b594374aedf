import type { Pod } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import type { AdmitHandler, Rejection } from "./admission.ts";
import type { FitVerdict, RoomWanted } from "./fit.ts";

/** Undefined: the pod may run here; `undecided`: it is asked about again. */
export type PodVerdict = Rejection | "undecided" | undefined;

export interface PodAdmissionDeps {
  findMisfit(pod: Pod): FitVerdict;
  /** What else the node asks of a pod, in order. */
  readonly rules: readonly AdmitHandler[];
  readonly preemption: {
    makeRoom(pod: Pod, wanted: RoomWanted): Rejection | "undecided";
    /** The verdict is there, whichever it is: nothing is kept for the pod any longer. */
    release(uid: string): void;
  };
}

/**
 * Which pods may run here. A critical pod that lacks resources only gets room at others' expense, and not before
 * everything else has let it in, so that nobody ends for a pod that is refused.
 */
export function createPodAdmission({ findMisfit, rules, preemption }: PodAdmissionDeps): (pod: Pod) => PodVerdict {
  const judge = (pod: Pod): PodVerdict => {
    const misfit = findMisfit(pod);
    if (misfit !== undefined && !isRoomWanted(misfit)) return misfit;
    for (const rule of rules) {
      const rejection = rule(pod);
      if (rejection !== undefined) return rejection;
    }
    return misfit && preemption.makeRoom(pod, misfit);
  };
  return (pod) => {
    const verdict = judge(pod);
    if (verdict !== "undecided") preemption.release(podUid(pod));
    return verdict;
  };
}

function isRoomWanted(verdict: Exclude<FitVerdict, undefined>): verdict is RoomWanted {
  return typeof verdict === "object" && "missing" in verdict;
}
