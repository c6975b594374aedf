import type { Pod } from "../../../api/gen/types.ts";
import { readyCondition } from "../../../api/pods.ts";
import { parseTime } from "../../../base/clock.ts";
import type { AutoscalerSettings } from "./autoscaler-settings.ts";
import { measuredPodName, type PodMeasure, type PodMeasures } from "./pod-measures.ts";

/** The names of pods by what their measures are worth. */
interface PodGroups {
  /** How many pods count with what they use. */
  readonly readyCount: number;
  /** Pods that have not begun to do their share. */
  readonly unready: ReadonlySet<string>;
  /** Pods of which nothing is known. */
  readonly missing: ReadonlySet<string>;
  /** Pods that are about to go. */
  readonly ignored: ReadonlySet<string>;
}

interface Grouping {
  /** The resource that is measured. */
  readonly resource: string;
  readonly measures: PodMeasures;
  readonly settings: Pick<AutoscalerSettings, "cpuInitializationMs" | "initialReadinessDelayMs">;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

/** Groups pods by what their measures are worth (`groupPods` of `podautoscaler/replica_calculator.go`). */
export function groupPods(pods: readonly Pod[], grouping: Grouping): PodGroups {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let readyCount = 0;
  for (const pod of pods) {
    const name = measuredPodName(pod);
    const { phase } = pod.status ?? {};
    const measure = grouping.measures.get(name);
    if (pod.metadata?.deletionTimestamp !== undefined || phase === "Failed") ignored.add(name);
    else if (phase === "Pending") unready.add(name);
    else if (measure === undefined) missing.add(name);
    else if (grouping.resource === "cpu" && isStarting(pod, measure, grouping)) unready.add(name);
    else readyCount += 1;
  }
  return { readyCount, unready, missing, ignored };
}

/** Whether the pod uses the processor to start, rather than to do its share. */
function isStarting(pod: Pod, measure: PodMeasure, { settings, now }: Grouping): boolean {
  const condition = readyCondition(pod);
  const startedAt = parseTime(pod.status?.startTime ?? "");
  if (condition === undefined || startedAt === undefined) return true;
  const changedAt = parseTime(condition.lastTransitionTime ?? "") ?? 0;
  const isUnready = condition.status === "False";
  if (startedAt + settings.cpuInitializationMs > now) return isUnready || measure.at < changedAt + measure.windowMs;
  return isUnready && startedAt + settings.initialReadinessDelayMs > changedAt;
}
