import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";
import { type ScalingHistory, sumChanges, withRecommendation } from "./scaling-history.ts";

/** What holds a recommendation back. */
export interface BoundsInput {
  readonly currentReplicas: number;
  /** What the metrics ask for. */
  readonly recommended: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Undefined: no faster than to the double, and no sooner down than `downscaleStabilizationMs`. */
  readonly behavior: HorizontalPodAutoscalerBehavior | undefined;
  readonly history: ScalingHistory;
  readonly downscaleStabilizationMs: number;
  /** In milliseconds, by the clock of the history. */
  readonly now: number;
}

/** What a condition says. */
export interface Verdict {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

interface BoundedReplicas {
  readonly replicas: number;
  readonly ableToScale: Verdict;
  readonly scalingLimited: Verdict;
  readonly history: ScalingHistory;
}

/** The reason and the message of a limit. */
type Limit = Pick<Verdict, "reason" | "message">;

/** A number of replicas, with what changed it or would have. */
interface Limited extends Limit {
  readonly replicas: number;
}

const READY: Verdict = {
  status: "True",
  reason: "ReadyForNewScale",
  message: "recommended size matches current size",
};
const DOWN_STABILIZED: Limit = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const UP_STABILIZED: Limit = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const UP_LIMIT: Limit = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const DOWN_LIMIT: Limit = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};
const TOO_MANY: Limit = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const TOO_FEW: Limit = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const WITHIN: Limit = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" };

/** Without rules of its own, an autoscaler may at least double what there is, and go up to this. */
const SCALE_UP_FACTOR = 2;
const SCALE_UP_MINIMUM = 4;

/**
 * How many replicas there are to be, of those that the metrics ask for: first what was recommended lately holds back,
 * then the rate of change and the bounds of the autoscaler (`normalizeDesiredReplicas` and
 * `normalizeDesiredReplicasWithBehaviors` of `podautoscaler/horizontal.go`).
 */
export function boundReplicas(input: BoundsInput): BoundedReplicas {
  const { recommended } = input;
  const stabilized = input.behavior === undefined ? stabilizeDown(input) : stabilize(input, input.behavior);
  const limited =
    input.behavior === undefined
      ? limitPlainly(input, stabilized.replicas)
      : limitByRules(input, input.behavior, stabilized.replicas);
  const { reason, message } = limited;
  return {
    replicas: limited.replicas,
    ableToScale:
      stabilized.replicas === recommended
        ? READY
        : { status: "True", reason: stabilized.reason, message: stabilized.message },
    scalingLimited: { status: limited.replicas === stabilized.replicas ? "False" : "True", reason, message },
    history: stabilized.history,
  };
}

type Stabilized = Limited & { readonly history: ScalingHistory };

function stabilizeDown({ recommended, history, downscaleStabilizationMs, now }: BoundsInput): Stabilized {
  const recent = history.recommendations.filter(({ at }) => at >= now - downscaleStabilizationMs);
  return {
    ...DOWN_STABILIZED,
    replicas: Math.max(recommended, ...recent.map(({ replicas }) => replicas)),
    history: withRecommendation(history, { replicas: recommended, at: now }, downscaleStabilizationMs),
  };
}

function stabilize(input: BoundsInput, behavior: HorizontalPodAutoscalerBehavior): Stabilized {
  const { recommended, currentReplicas, history, downscaleStabilizationMs, now } = input;
  const windowMs = ({ stabilizationWindowSeconds }: HPAScalingRules = {}, otherwise: number) =>
    stabilizationWindowSeconds === undefined ? otherwise : stabilizationWindowSeconds * SECOND;
  const upMs = windowMs(behavior.scaleUp, 0);
  const downMs = windowMs(behavior.scaleDown, downscaleStabilizationMs);
  const since = (ms: number) =>
    history.recommendations.filter(({ at }) => at > now - ms).map(({ replicas }) => replicas);
  const lowest = Math.min(recommended, ...since(upMs));
  const highest = Math.max(recommended, ...since(downMs));
  return {
    ...(recommended >= currentReplicas ? UP_STABILIZED : DOWN_STABILIZED),
    replicas: Math.min(Math.max(currentReplicas, lowest), highest),
    history: withRecommendation(history, { replicas: recommended, at: now }, Math.max(upMs, downMs)),
  };
}

function limitPlainly({ currentReplicas, minReplicas, maxReplicas }: BoundsInput, desired: number): Limited {
  const upLimit = Math.max(SCALE_UP_FACTOR * currentReplicas, SCALE_UP_MINIMUM);
  const most = Math.min(maxReplicas, upLimit);
  if (desired < minReplicas) return { ...TOO_FEW, replicas: minReplicas };
  if (desired > most) return { ...(maxReplicas > upLimit ? UP_LIMIT : TOO_MANY), replicas: most };
  return { ...WITHIN, replicas: desired };
}

function limitByRules(
  input: BoundsInput,
  { scaleUp = {}, scaleDown = {} }: HorizontalPodAutoscalerBehavior,
  desired: number,
): Limited {
  const { currentReplicas, minReplicas, maxReplicas } = input;
  if (desired > currentReplicas) {
    const upLimit = Math.max(currentReplicas, computeUpLimit(input, scaleUp));
    const most = Math.min(maxReplicas, upLimit);
    if (desired > most) return { ...(maxReplicas > upLimit ? UP_LIMIT : TOO_MANY), replicas: most };
  } else if (desired < currentReplicas) {
    const downLimit = Math.min(currentReplicas, computeDownLimit(input, scaleDown));
    const fewest = Math.max(minReplicas, downLimit);
    if (desired < fewest) return { ...(minReplicas < downLimit ? DOWN_LIMIT : TOO_FEW), replicas: fewest };
  }
  return { ...WITHIN, replicas: desired };
}

/** The most replicas that the policies allow now. A share is rounded up, so that it is never nothing. */
function computeUpLimit(input: BoundsInput, { selectPolicy, policies = [] }: HPAScalingRules): number {
  if (selectPolicy === "Disabled") return input.currentReplicas;
  const proposed = policies.map(({ type, value, periodSeconds }) => {
    const before = replicasBefore(input, periodSeconds);
    return type === "Percent" ? Math.ceil(before * (1 + value / 100)) : before + value;
  });
  return selectPolicy === "Min" ? Math.min(...proposed) : Math.max(...proposed);
}

/** The fewest replicas that the policies allow now. */
function computeDownLimit(input: BoundsInput, { selectPolicy, policies = [] }: HPAScalingRules): number {
  if (selectPolicy === "Disabled") return input.currentReplicas;
  const proposed = policies.map(({ type, value, periodSeconds }) => {
    const before = replicasBefore(input, periodSeconds);
    return type === "Percent" ? Math.trunc(before * (1 - value / 100)) : before - value;
  });
  return selectPolicy === "Min" ? Math.max(...proposed) : Math.min(...proposed);
}

/** How many replicas there were at the beginning of the period. */
function replicasBefore({ currentReplicas, history, now }: BoundsInput, periodSeconds: number): number {
  const since = now - periodSeconds * SECOND;
  return currentReplicas - sumChanges(history.ups, since) + sumChanges(history.downs, since);
}
