import type { Pod } from "../../../api/gen/types.ts";
import { SECOND } from "../../../base/clock.ts";

/** The time to end that pods get whose priority is at least this one and below the next period's. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly seconds: number;
}

/** The fields of the configuration. Times are in milliseconds unless their names end in `Seconds`. */
interface ShutdownConfiguration {
  readonly shutdownGracePeriod: number;
  readonly shutdownGracePeriodCriticalPods: number;
  readonly shutdownGracePeriodByPodPriority?:
    | readonly { readonly priority: number; readonly shutdownGracePeriodSeconds: number }[]
    | undefined;
}

const DEFAULT_PRIORITY = 0;
/** The priority of `system-cluster-critical`. Pods of higher priority get the same period. */
const CRITICAL_PRIORITY = 2_000_000_000;

/**
 * Computes the periods, least important first, which is the order in which pods end. The result is empty if pods get no
 * time. As in upstream's `newPodManager` (pkg/kubelet/nodeshutdown/nodeshutdown_manager.go), the two plain periods
 * become periods of two priorities.
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

/**
 * Groups the pods in the order of the periods. A pod belongs to the last period that begins at or below its priority,
 * or else to the first period.
 */
export function groupByPeriod(periods: readonly ShutdownPeriod[], pods: readonly Pod[]): readonly ShutdownGroup[] {
  const periodOf = ({ spec }: Pod) => {
    const priority = spec?.priority ?? 0;
    return periods.findLast((period) => period.priority <= priority) ?? periods[0];
  };
  return periods.map((period) => ({ period, pods: pods.filter((pod) => periodOf(pod) === period) }));
}
