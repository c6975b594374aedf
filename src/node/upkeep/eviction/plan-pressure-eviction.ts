import type { Pod } from "../../../api/gen/types.ts";
import { isCriticalPod, podReference } from "../../../api/pods.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { composeEvictionWords, type EvictionWords } from "./eviction-message.ts";
import { type Candidate, exceedsRequest, type RankedPod, rankPods } from "./rank-pods.ts";
import { formatAmount, isHard, SIGNALS, type SignalObservations, thresholdQuantity } from "./signals.ts";

/** The pod to evict, and everything that is reported about the eviction. */
export interface EvictionPlan extends EvictionWords {
  readonly victim: Pod;
  readonly gracePeriodSeconds: number;
  /** Explains why this pod was chosen before the others, for people who ask the node. */
  readonly explanation: string;
  /** The pods that rank before the victim and are too important to be evicted. */
  readonly spared: readonly Pod[];
}

/** The thresholds for which the node must give something up, and the observations behind them. */
export interface EvictionNeed {
  /** The threshold that this eviction acts on. */
  readonly threshold: EvictionThreshold;
  /** All thresholds that call for evictions, the most urgent first. */
  readonly due: readonly EvictionThreshold[];
  readonly observations: SignalObservations;
}

export interface EvictionQuestion extends EvictionNeed {
  readonly layout: Pick<DiskLayout, "isDedicated" | "isSplit">;
  readonly candidates: readonly Candidate[];
  /**
   * `evictionMaxPodGracePeriod`, which applies to soft thresholds. A negative value means the pod's own grace period.
   */
  readonly maxPodGracePeriodSeconds: number;
}

/** The grace period of a hard threshold. An API server would take 0 to mean that the pod is to be forgotten. */
const IMMEDIATE_GRACE_PERIOD_SECONDS = 1;
/** The maximum number of other pods that an explanation names. */
const MOST_OTHERS = 3;

/** Plans the eviction of one pod. The result is undefined if no pod may be evicted. The function is pure. */
export function planPressureEviction(question: EvictionQuestion): EvictionPlan | undefined {
  const { threshold, due, observations, layout, candidates } = question;
  const ranked = rankPods(threshold.signal, layout, candidates);
  const place = ranked.findIndex(({ pod }) => !isCriticalPod(pod));
  const chosen = ranked[place];
  if (chosen === undefined) return undefined;
  const { resource } = SIGNALS[threshold.signal];
  return {
    ...composeEvictionWords(resource, chosen, { due, observations }),
    victim: chosen.pod,
    gracePeriodSeconds: computeGracePeriod(chosen.pod, question),
    explanation: explain(question, ranked, place),
    spared: ranked.slice(0, place).map(({ pod }) => pod),
  };
}

function computeGracePeriod({ spec }: Pod, { threshold, maxPodGracePeriodSeconds: most }: EvictionQuestion): number {
  if (isHard(threshold)) return IMMEDIATE_GRACE_PERIOD_SECONDS;
  const own = spec?.terminationGracePeriodSeconds;
  if (own === undefined) return Math.max(0, most);
  return most < 0 ? own : Math.min(most, own);
}

function explain({ threshold, observations }: EvictionQuestion, ranked: readonly RankedPod[], place: number): string {
  const { signal, value, gracePeriodMs } = threshold;
  const { format } = SIGNALS[signal];
  const observed = observations.get(signal);
  const kind = isHard(threshold) ? "hard" : `soft (${gracePeriodMs / 1_000} s)`;
  const found = observed
    ? `${formatAmount(observed.available, format)} is left, below the ${kind} threshold of ${thresholdQuantity(value, observed.capacity)}`
    : `the ${kind} threshold is met`;
  const [chosen, others] = [ranked[place], ranked.slice(place + 1)];
  const named = others.slice(0, MOST_OTHERS).map((other) => `${nameOf(other)} (${describe(other, format)})`);
  const more = others.length > MOST_OTHERS ? ` and ${others.length - MOST_OTHERS} more` : "";
  const critical = place === 0 ? "" : `; ${place} before it critical`;
  return [
    `${signal}: ${found}.`,
    `Place ${place + 1} of ${ranked.length}${critical}: ${chosen ? describe(chosen, format) : ""}.`,
    named.length === 0 ? "Nobody comes after it." : `After it: ${named.join(", ")}${more}.`,
  ].join(" ");
}

function describe(ranked: RankedPod, format: "BinarySI" | "DecimalSI"): string {
  const { used, requested, priority } = ranked;
  if (used === undefined) return `not measured, priority ${priority}`;
  const over = exceedsRequest(ranked) ? "more than" : "within";
  return `uses ${formatAmount(used, format)}, ${over} its request of ${formatAmount(requested, format)}, priority ${priority}`;
}

function nameOf({ pod }: RankedPod): string {
  const { namespace, name } = podReference(pod);
  return `${namespace}/${name}`;
}
