import type { ConfigurationError } from "./codec.ts";
import type { FeatureGates } from "./feature-gates.ts";
import { parseGoBoolean } from "./go-boolean.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";

/** How CPUs are given to containers. */
export interface CpuSettings extends CpuOptions {
  readonly policy: "none" | "static";
  /** The period in which running containers are told their CPUs. */
  readonly reconcileMs: number;
  /** A container with CPUs of its own has no quota of their time. */
  readonly liftsQuota: boolean;
}

interface CpuOptions {
  /** A container has all CPUs of its cores: `full-pcpus-only`. */
  readonly wholeCoresOnly: boolean;
  /** No container runs on the reserved CPUs: `strict-cpu-reservation`. */
  readonly isReservationStrict: boolean;
}

const NO_OPTIONS: CpuOptions = { wholeCoresOnly: false, isReservationStrict: false };
const PATH = "cpuManagerPolicyOptions";
/** Nobody gains from telling containers more often. */
const LEAST_PERIOD_MS = 100;
const UNSUPPORTED_OPTIONS = [
  "align-by-socket",
  "distribute-cpus-across-cores",
  "distribute-cpus-across-numa",
  "prefer-align-cpus-by-uncorecache",
];

/** Computes the settings. Options that are wrong, or that nodelet has not, are errors. */
export function computeCpuSettings(
  configuration: KubeletConfiguration,
  gates: FeatureGates,
  errors: ConfigurationError[],
): CpuSettings {
  const { cpuManagerPolicy, cpuManagerPolicyOptions = {}, cpuManagerReconcilePeriod } = configuration;
  // Another name is an error that the validation of the configuration tells.
  const policy = cpuManagerPolicy === "static" ? "static" : "none";
  const read = policy === "static" ? readOptions(cpuManagerPolicyOptions) : readNone(cpuManagerPolicyOptions);
  if (typeof read === "string") {
    errors.push({ path: PATH, message: `${PATH} (--cpu-manager-policy-options): ${read}` });
  }
  return {
    policy,
    reconcileMs: Math.max(LEAST_PERIOD_MS, cpuManagerReconcilePeriod),
    liftsQuota: gates.DisableCPUQuotaWithExclusiveCPUs,
    ...(typeof read === "string" ? NO_OPTIONS : read),
  };
}

function readNone(options: Readonly<Record<string, string>>): CpuOptions | string {
  const names = Object.keys(options);
  return names.length === 0 ? NO_OPTIONS : `None policy: received unsupported options=${names.join(",")}`;
}

/** Returns what is wrong where something is. */
function readOptions(options: Readonly<Record<string, string>>): CpuOptions | string {
  let read = NO_OPTIONS;
  for (const [name, text] of Object.entries(options)) {
    if (UNSUPPORTED_OPTIONS.includes(name)) return `option "${name}" is not supported by nodelet: leave it out`;
    if (name !== "full-pcpus-only" && name !== "strict-cpu-reservation") {
      return `unknown CPU Manager Policy option: "${name}"`;
    }
    const value = parseGoBoolean(text);
    if (value === undefined) return `bad value for option "${name}": ${JSON.stringify(text)}`;
    read = name === "full-pcpus-only" ? { ...read, wholeCoresOnly: value } : { ...read, isReservationStrict: value };
  }
  return read;
}
