import type { HorizontalPodAutoscalerCondition } from "../../../api/gen/types.ts";
import { formatTime } from "../../../base/clock.ts";
import type { Verdict } from "./replica-bounds.ts";

type ConditionType = "AbleToScale" | "ScalingActive" | "ScalingLimited";

/** The conditions with one that says something else, or something more. `now` in milliseconds since the epoch. */
export function withVerdict(
  conditions: readonly HorizontalPodAutoscalerCondition[],
  type: ConditionType,
  { status, reason, message }: Verdict,
  now: number,
): readonly HorizontalPodAutoscalerCondition[] {
  const before = conditions.find((condition) => condition.type === type);
  const isSame = before?.status === status && before.lastTransitionTime !== undefined;
  const lastTransitionTime = isSame ? before.lastTransitionTime : formatTime(now);
  const next = { type, status, ...(lastTransitionTime !== undefined && { lastTransitionTime }), reason, message };
  if (before === undefined) return [...conditions, next];
  return conditions.map((condition) => (condition === before ? next : condition));
}

/** The conditions without one that the feature gate HPAScaleToZero would have set. */
export function withoutScaledToZero(
  conditions: readonly HorizontalPodAutoscalerCondition[],
): readonly HorizontalPodAutoscalerCondition[] {
  return conditions.filter(({ type }) => type !== "ScaledToZero");
}
