import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerSpec,
  MetricStatus,
  Pod,
} from "../../../api/gen/types.ts";
import type { KubeObject, ObjectOf } from "../../../api/object.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import { formatTime } from "../../../base/clock.ts";
import { withoutScaledToZero, withVerdict } from "./autoscaler-conditions.ts";
import type { AutoscalerSettings } from "./autoscaler-settings.ts";
import { type ForeignReading, UNASKED } from "./foreign-metrics.ts";
import { proposeReplicas } from "./metric-proposal.ts";
import type { MetricProposal } from "./proposal.ts";
import { boundReplicas, type Verdict } from "./replica-bounds.ts";
import type { Tolerances } from "./replica-count.ts";
import type { TargetScale } from "./scale-targets.ts";
import { beginHistory, type ScalingHistory, withScaleChange } from "./scaling-history.ts";

/** What is to be told of an autoscaler. */
export interface AutoscalerNews {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** The pods of the scaled object; or why nobody can say which they are. */
export type SelectedPods =
  | {
      readonly kind: "selected";
      readonly pods: readonly Pod[];
      readonly podMetrics: readonly KubeObject[];
      /** What servers of others say, by the place of the metric in the autoscaler's list. */
      readonly foreign: readonly ForeignReading[];
    }
  | { readonly kind: "failed"; readonly news: AutoscalerNews; readonly verdict: Verdict };

export interface AutoscalerInput {
  readonly autoscaler: ObjectOf<"HorizontalPodAutoscaler">;
  readonly scale: TargetScale;
  /** Read where `needsMetrics` says so; undefined otherwise. */
  readonly selected: SelectedPods | undefined;
  /** Undefined for an autoscaler that is seen for the first time. */
  readonly history: ScalingHistory | undefined;
  readonly settings: AutoscalerSettings;
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** In milliseconds of a clock that nobody sets. The history is dated by it, or a clock set back would hold scaling up. */
  readonly elapsed: number;
}

type Conditions = readonly HorizontalPodAutoscalerCondition[];

/** The status as it is written; upstream writes `null` where no metrics were looked at. */
export interface AutoscalerStatus {
  readonly lastScaleTime?: string;
  readonly currentReplicas?: number;
  readonly desiredReplicas: number;
  readonly currentMetrics: readonly MetricStatus[] | null;
  readonly conditions: Conditions;
}

export interface AutoscalerPlan {
  /** The status where nothing is to be scaled, and where scaling fails. */
  readonly status: AutoscalerStatus;
  readonly news: readonly AutoscalerNews[];
  readonly rescale: { readonly replicas: number; readonly reason: string } | undefined;
  readonly history: ScalingHistory;
}

/** How many replicas there are to be, before metrics have a say. */
type Range =
  | { readonly kind: "disabled" }
  | { readonly kind: "outside"; readonly replicas: number; readonly reason: string }
  | { readonly kind: "inside" };

function rangeOf({ minReplicas = 1, maxReplicas }: HorizontalPodAutoscalerSpec, current: number): Range {
  // Without the feature gate HPAScaleToZero, nothing leads back from zero but the author of the target.
  if (current === 0) return { kind: "disabled" };
  if (current > maxReplicas) {
    return { kind: "outside", replicas: maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas" };
  }
  if (current < minReplicas) {
    return { kind: "outside", replicas: minReplicas, reason: "Current number of replicas below Spec.MinReplicas" };
  }
  return { kind: "inside" };
}

/** Whether it depends on the target's metrics how many replicas there are to be. */
export function needsMetrics(spec: HorizontalPodAutoscalerSpec, { replicas }: TargetScale): boolean {
  return rangeOf(spec, replicas).kind === "inside";
}

/** What to do about an autoscaler (`reconcileAutoscaler` of `podautoscaler/horizontal.go`). */
export function planAutoscaler(input: AutoscalerInput): AutoscalerPlan {
  const { autoscaler, scale, now, elapsed } = input;
  const { spec, status } = autoscaler;
  const history = input.history ?? beginHistory(scale.replicas, elapsed);
  const message = "the HPA controller was able to get the target's current scale";
  const succeeded: Verdict = { status: "True", reason: "SucceededGetScale", message };
  const conditions = withVerdict(status?.conditions ?? [], "AbleToScale", succeeded, now);
  const range = rangeOf(spec, scale.replicas);
  switch (range.kind) {
    case "disabled": {
      const off = "scaling is disabled since the replica count of the target is zero";
      const disabled: Verdict = { status: "False", reason: "ScalingDisabled", message: off };
      const said = withoutScaledToZero(withVerdict(conditions, "ScalingActive", disabled, now));
      const next = statusOf(input, { conditions: said, desiredReplicas: 0 });
      return { status: next, news: [], rescale: undefined, history };
    }
    case "outside":
      return { status: statusOf(input, { conditions }), news: [], rescale: range, history };
    case "inside":
      return planByMetrics(input, conditions, history);
  }
}

function planByMetrics(input: AutoscalerInput, conditions: Conditions, history: ScalingHistory): AutoscalerPlan {
  const { autoscaler, scale, settings, now, elapsed } = input;
  const { minReplicas = 1, maxReplicas, behavior } = autoscaler.spec;
  const wanted = computeWanted(input);
  const news = [...wanted.news];
  const active = withVerdict(conditions, "ScalingActive", wanted.verdict, now);
  const { currentMetrics } = wanted;
  if (wanted.kind === "failed") {
    news.push({ type: "Warning", reason: "FailedComputeMetricsReplicas", message: wanted.summary });
    const status = statusOf(input, { conditions: active, currentMetrics });
    return { status, news, rescale: undefined, history };
  }
  const currentReplicas = scale.replicas;
  const bounded = boundReplicas({
    currentReplicas,
    recommended: wanted.replicas,
    minReplicas,
    maxReplicas,
    behavior,
    history,
    downscaleStabilizationMs: settings.downscaleStabilizationMs,
    now: elapsed,
  });
  const able = withVerdict(active, "AbleToScale", bounded.ableToScale, now);
  const limited = withVerdict(able, "ScalingLimited", bounded.scalingLimited, now);
  const isSettled = bounded.replicas === currentReplicas;
  const desired = isSettled ? { desiredReplicas: currentReplicas } : {};
  return {
    status: statusOf(input, { conditions: limited, currentMetrics, ...desired }),
    news,
    rescale: isSettled ? undefined : { replicas: bounded.replicas, reason: reasonOf(wanted, currentReplicas) },
    history: bounded.history,
  };
}

function reasonOf({ replicas, metric }: { replicas: number; metric: string }, current: number): string {
  if (replicas > current) return `${metric} above target`;
  return replicas < current ? "All metrics below target" : "";
}

function statusOf(
  { autoscaler: { status }, scale }: AutoscalerInput,
  changes: { conditions: Conditions; currentMetrics?: AutoscalerStatus["currentMetrics"]; desiredReplicas?: number },
): AutoscalerStatus {
  const { conditions, currentMetrics = null, desiredReplicas = status?.desiredReplicas ?? 0 } = changes;
  return {
    ...(status?.lastScaleTime !== undefined && { lastScaleTime: status.lastScaleTime }),
    ...(scale.replicas > 0 && { currentReplicas: scale.replicas }),
    desiredReplicas,
    currentMetrics,
    conditions,
  };
}

type Wanted = {
  readonly verdict: Verdict;
  readonly news: readonly AutoscalerNews[];
  readonly currentMetrics: AutoscalerStatus["currentMetrics"];
} & (
  | { readonly kind: "failed"; readonly summary: string }
  | { readonly kind: "wanted"; readonly replicas: number; readonly metric: string }
);

/** The most replicas that one of the metrics asks for. While one of them is not known, nothing is made smaller. */
function computeWanted(input: AutoscalerInput): Wanted {
  const { autoscaler, scale, selected, settings, now } = input;
  const { metrics = [], behavior } = autoscaler.spec;
  if (selected === undefined || selected.kind === "failed") {
    const { verdict, news } = selected ?? missingSelector();
    return { kind: "failed", verdict, news: [news], currentMetrics: null, summary: news.message };
  }
  const proposals = metrics.map((metric, index) => {
    return proposeReplicas(metric, {
      ...selected,
      reading: selected.foreign[index] ?? UNASKED,
      statusReplicas: scale.statusReplicas,
      namespace: autoscaler.metadata.namespace ?? "",
      currentReplicas: scale.replicas,
      tolerances: tolerancesOf(behavior, settings),
      settings,
      now,
    });
  });
  const currentMetrics = proposals.map((proposal) => (proposal.kind === "proposed" ? proposal.status : { type: "" }));
  const failures = proposals.filter((proposal) => proposal.kind === "failed");
  const news = failures.map(({ reason, message }): AutoscalerNews => ({ type: "Warning", reason, message }));
  const { replicas, metric } = largestOf(proposals);
  const [first] = failures;
  if (first !== undefined && (failures.length === metrics.length || replicas < scale.replicas)) {
    const count = `invalid metrics (${failures.length} invalid out of ${metrics.length})`;
    const message = `the HPA was unable to compute the replica count: ${first.message}`;
    const verdict: Verdict = { status: "False", reason: first.reason, message };
    return { kind: "failed", verdict, news, currentMetrics, summary: `${count}, first error is: ${first.summary}` };
  }
  const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
  const verdict: Verdict = { status: "True", reason: "ValidMetricFound", message };
  return { kind: "wanted", verdict, news, currentMetrics, replicas, metric };
}

function largestOf(proposals: readonly MetricProposal[]): { replicas: number; metric: string } {
  let largest = { replicas: 0, metric: "" };
  for (const proposal of proposals) {
    if (proposal.kind !== "proposed") continue;
    const { replicas, metric } = proposal;
    if (largest.replicas === 0 || replicas > largest.replicas) largest = { replicas, metric };
  }
  return largest;
}

function tolerancesOf(
  { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior = {},
  { tolerance }: AutoscalerSettings,
): Tolerances {
  const shareOf = (text: string | undefined) => {
    const quantity = text === undefined ? undefined : parseQuantity(text);
    return quantity === undefined ? tolerance : Number(quantity.nanos) / 1e9;
  };
  return { scaleDown: shareOf(scaleDown?.tolerance), scaleUp: shareOf(scaleUp?.tolerance) };
}

/** What is said of a target whose scale does not tell which pods it counts. */
export function missingSelector(): Extract<SelectedPods, { kind: "failed" }> {
  return {
    kind: "failed",
    news: { type: "Warning", reason: "SelectorRequired", message: "selector is required" },
    verdict: { status: "False", reason: "InvalidSelector", message: "the HPA target's scale is missing a selector" },
  };
}

type Outcome = Pick<AutoscalerPlan, "status" | "history"> & { readonly news: AutoscalerNews };

/** What there is to tell and to remember once the target has its new scale. */
export function afterRescale(
  { autoscaler: { spec }, scale, now, elapsed }: AutoscalerInput,
  { status, history }: AutoscalerPlan,
  { replicas, reason }: NonNullable<AutoscalerPlan["rescale"]>,
): Outcome {
  const { scaleUp: up = {}, scaleDown: down = {} } = spec.behavior ?? {};
  const change = { from: scale.replicas, to: replicas, at: elapsed };
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  const verdict: Verdict = { status: "True", reason: "SucceededRescale", message };
  return {
    status: {
      ...status,
      lastScaleTime: formatTime(now),
      desiredReplicas: replicas,
      conditions: withoutScaledToZero(withVerdict(status.conditions, "AbleToScale", verdict, now)),
    },
    news: { type: "Normal", reason: "SuccessfulRescale", message: `New size: ${replicas}; reason: ${reason}` },
    // Without rules of its own, no policy looks back.
    history: spec.behavior === undefined ? history : withScaleChange(history, change, { up, down }),
  };
}

/** What there is to tell when the target did not take its new scale. */
export function afterFailedRescale(
  { now }: Pick<AutoscalerInput, "now">,
  { status, history }: AutoscalerPlan,
  { replicas, reason, error }: NonNullable<AutoscalerPlan["rescale"]> & { readonly error: string },
): Outcome {
  const message = `the HPA controller was unable to update the target scale: ${error}`;
  const verdict: Verdict = { status: "False", reason: "FailedUpdateScale", message };
  const told = `New size: ${replicas}; reason: ${reason}; error: ${error}`;
  return {
    status: { ...status, conditions: withVerdict(status.conditions, "AbleToScale", verdict, now) },
    news: { type: "Warning", reason: "FailedRescale", message: told },
    history,
  };
}
