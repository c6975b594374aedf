import type { NodeCondition } from "../../api/gen/types.ts";
import { formatTime } from "../../base/clock.ts";

export interface NodeConditionsInput {
  /** Why pods cannot be run at all, each in a sentence; empty when they can. */
  errors: readonly string[];
  previous: readonly NodeCondition[];
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * The node's conditions as far as this version judges them: Ready, from the runtime, its network and PLEG. The pressure
 * conditions need eviction, which a later version brings; none is better than a False that nobody measured.
 */
export function computeNodeConditions({ errors, previous, now }: NodeConditionsInput): NodeCondition[] {
  const ready = errors.length === 0;
  const verdict = ready
    ? { status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" }
    : { status: "False", reason: "KubeletNotReady", message: joinErrors(errors) };
  const before = previous.find(({ type }) => type === "Ready");
  const lastTransitionTime =
    before?.status === verdict.status && before.lastTransitionTime ? before.lastTransitionTime : formatTime(now);
  return [{ type: "Ready", ...verdict, lastHeartbeatTime: formatTime(now), lastTransitionTime }];
}

/** As Go's aggregate of errors prints itself. */
function joinErrors(errors: readonly string[]): string {
  const [only = "", ...others] = new Set(errors);
  return others.length === 0 ? only : `[${[only, ...others].join(", ")}]`;
}
