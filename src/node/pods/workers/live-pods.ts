import type { Pod } from "../../../api/gen/types.ts";
import type { PodState } from "./pod-state.ts";

/** Lists the pods of which something may still run: they take their part of the node's resources. */
export function listLivePods(states: ReadonlyMap<string, PodState>): Pod[] {
  return [...states.values()].flatMap(({ phase, subject }) => {
    const isOver = phase === "terminated" || phase === "finished";
    return subject.kind === "pod" && !isOver ? [subject.pod] : [];
  });
}
