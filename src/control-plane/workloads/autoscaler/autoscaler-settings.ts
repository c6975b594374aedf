import { MINUTE, SECOND } from "../../../base/clock.ts";

/** How autoscalers are looked after: the flags `--horizontal-pod-autoscaler-*` of kube-controller-manager. */
export interface AutoscalerSettings {
  /** The time between two looks at an autoscaler. */
  readonly syncPeriodMs: number;
  /** How long a higher recommendation holds an autoscaler back that does not say so itself. */
  readonly downscaleStabilizationMs: number;
  /** How far from its target a metric may be, as a share of it, before anything is scaled. */
  readonly tolerance: number;
  /** After its start, a pod's use of the processor counts only while it is ready. */
  readonly cpuInitializationMs: number;
  /** A pod that became unready within this time after its start has never been ready. */
  readonly initialReadinessDelayMs: number;
}

export const AUTOSCALER_DEFAULTS: AutoscalerSettings = {
  syncPeriodMs: 15 * SECOND,
  downscaleStabilizationMs: 5 * MINUTE,
  tolerance: 0.1,
  cpuInitializationMs: 5 * MINUTE,
  initialReadinessDelayMs: 30 * SECOND,
};
