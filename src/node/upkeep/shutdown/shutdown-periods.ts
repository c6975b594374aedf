import type { Pod } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";

/** What the pods from a priority on, up to the next one, get to end. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly seconds: number;
}

/** The configuration's fields; times in milliseconds. */
interface ShutdownConfiguration {
  readonly shutdownGracePeriod: number;
  readonly shutdownGracePeriodCriticalPods: number;
  readonly shutdownGracePeriodByPodPriority?:
    | readonly { readonly priority: number; readonly shutdownGracePeriodSeconds: number }[]
    | undefined;
}

const DEFAULT_PRIORITY = 0;
/** Of `system-cluster-critical`; what is more important gets the same period. */
const CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Least important first, which is the order in which they end; empty where pods are to get no time. As upstream's
 * `newPodManager` (pkg/kubelet/nodeshutdown/nodeshutdown_manager.go) reads it: the two periods are those of two priorities.
 */
export function computeShutdownPeriods(
  configuration: ShutdownConfiguration,
  gates: { readonly GracefulNodeShutdown: boolean; readonly GracefulNodeShutdownBasedOnPodPriority: boolean },
): readonly ShutdownPeriod[] {
  if (!gates.GracefulNodeShutdown) return [];
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical } = configuration;
  const byPriority = gates.GracefulNodeShutdownBasedOnPodPriority
    ? (configuration.shutdownGracePeriodByPodPriority ?? [])
    : [];
  if (byPriority.length > 0) {
    return byPriority
      .map(({ priority, shutdownGracePeriodSeconds: seconds }) => ({ priority, seconds }))
      .sort((a, b) => a.priority - b.priority);
  }
  if (total === 0) return [];
  return [
    { priority: DEFAULT_PRIORITY, seconds: Math.floor((total - critical) / SECOND) },
    { priority: CRITICAL_PRIORITY, seconds: Math.floor(critical / SECOND) },
  ];
}

/** The pods of a period. */
interface ShutdownGroup {
  readonly period: ShutdownPeriod;
  readonly pods: readonly Pod[];
}

/** In the order of the periods: a pod is in the last that begins at its priority or below, else in the first. */
export function groupByPeriod(periods: readonly ShutdownPeriod[], pods: readonly Pod[]): readonly ShutdownGroup[] {
  const periodOf = ({ spec }: Pod) => {
    const priority = spec?.priority ?? 0;
    return periods.findLast((period) => period.priority <= priority) ?? periods[0];
  };
  return periods.map((period) => ({ period, pods: pods.filter((pod) => periodOf(pod) === period) }));
}
