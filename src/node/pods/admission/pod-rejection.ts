import type { Pod } from "../../../api/gen/types.ts";

/** Why a pod must not run here: reason and message of its Failed status. */
export interface PodRejection {
  reason: string;
  message: string;
}

/** One rule of admission. Undefined lets the pod pass to the next. */
export type AdmitHandler = (pod: Pod) => PodRejection | undefined;

/** Asks the handlers in order; the first that refuses decides. */
export function createAdmission(handlers: readonly AdmitHandler[]): AdmitHandler {
  return (pod) => {
    for (const handler of handlers) {
      const rejection = handler(pod);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  };
}
