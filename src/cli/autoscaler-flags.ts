import { type Command, Option } from "commander";
import { formatDuration } from "../config/duration.ts";
import {
  AUTOSCALER_DEFAULTS,
  type AutoscalerSettings,
} from "../control-plane/workloads/autoscaler/autoscaler-settings.ts";
import { readAmount, readDuration } from "./flag-values.ts";

/** What commander reads of the flags about autoscalers. */
export interface AutoscalerFlags {
  horizontalPodAutoscalerSyncPeriod: number;
  horizontalPodAutoscalerDownscaleStabilization: number;
  horizontalPodAutoscalerTolerance: number;
  horizontalPodAutoscalerCpuInitializationPeriod: number;
  horizontalPodAutoscalerInitialReadinessDelay: number;
}

/** Adds the flags of kube-controller-manager about autoscalers, with its names and defaults. */
export function addAutoscalerFlags(command: Command): void {
  const addDuration = (name: string, what: string, ms: number) => {
    const flags = `--horizontal-pod-autoscaler-${name} <duration>`;
    command.addOption(new Option(flags, what).default(ms, formatDuration(ms)).argParser(readDuration));
  };
  const defaults = AUTOSCALER_DEFAULTS;
  addDuration("sync-period", "the time between two looks at an autoscaler", defaults.syncPeriodMs);
  const stabilization = "how long a higher recommendation keeps an autoscaler from scaling down";
  addDuration("downscale-stabilization", stabilization, defaults.downscaleStabilizationMs);
  const initialization = "after its start, a pod's use of CPU counts only while it is ready";
  addDuration("cpu-initialization-period", initialization, defaults.cpuInitializationMs);
  const delay = "a pod that became unready so soon after its start was never ready";
  addDuration("initial-readiness-delay", delay, defaults.initialReadinessDelayMs);
  const share = "how far from its target a metric may be, as a share of it";
  const tolerance = new Option("--horizontal-pod-autoscaler-tolerance <share>", share);
  command.addOption(tolerance.default(defaults.tolerance).argParser(readAmount));
}

/** The settings that the flags ask for. */
export function readAutoscalerFlags(flags: AutoscalerFlags): AutoscalerSettings {
  return {
    syncPeriodMs: flags.horizontalPodAutoscalerSyncPeriod,
    downscaleStabilizationMs: flags.horizontalPodAutoscalerDownscaleStabilization,
    tolerance: flags.horizontalPodAutoscalerTolerance,
    cpuInitializationMs: flags.horizontalPodAutoscalerCpuInitializationPeriod,
    initialReadinessDelayMs: flags.horizontalPodAutoscalerInitialReadinessDelay,
  };
}
