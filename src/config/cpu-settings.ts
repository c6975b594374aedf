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
  /** CPUs of one socket are as close as those of one NUMA node: `align-by-socket`. */
  readonly alignsToSockets: boolean;
  /** What does not fit on one NUMA node is divided evenly among several: `distribute-cpus-across-numa`. */
  readonly dividesAcrossNumaNodes: boolean;
  /** A container has as few CPUs of one core as can be: `distribute-cpus-across-cores`. */
  readonly spreadsAcrossCores: boolean;
  /** The CPUs of a container share a last-level cache where they can: `prefer-align-cpus-by-uncorecache`. */
  readonly prefersOneCache: boolean;
}

/** The options that upstream knows, with the stage of each in 1.36. */
const OPTIONS: Readonly<
  Record<string, { readonly stage: "alpha" | "beta" | "stable"; readonly sets: keyof CpuOptions }>
> = {
  "full-pcpus-only": { stage: "stable", sets: "wholeCoresOnly" },
  "strict-cpu-reservation": { stage: "stable", sets: "isReservationStrict" },
  "distribute-cpus-across-numa": { stage: "beta", sets: "dividesAcrossNumaNodes" },
  "prefer-align-cpus-by-uncorecache": { stage: "beta", sets: "prefersOneCache" },
  "align-by-socket": { stage: "alpha", sets: "alignsToSockets" },
  "distribute-cpus-across-cores": { stage: "alpha", sets: "spreadsAcrossCores" },
};

/** The options that contradict each other. */
const EXCLUSIVE: ReadonlyArray<readonly [string, string]> = [
  ["full-pcpus-only", "distribute-cpus-across-cores"],
  ["distribute-cpus-across-numa", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"],
];

const NO_OPTIONS: CpuOptions = {
  wholeCoresOnly: false,
  isReservationStrict: false,
  alignsToSockets: false,
  dividesAcrossNumaNodes: false,
  spreadsAcrossCores: false,
  prefersOneCache: false,
};
const PATH = "cpuManagerPolicyOptions";
/** Nobody gains from telling containers more often. */
const LEAST_PERIOD_MS = 100;

/** Computes the settings. Options that are wrong, or that contradict each other, are errors in upstream's words. */
export function computeCpuSettings(
  configuration: KubeletConfiguration,
  gates: FeatureGates,
  errors: ConfigurationError[],
): CpuSettings {
  const { cpuManagerPolicy, cpuManagerPolicyOptions = {}, cpuManagerReconcilePeriod } = configuration;
  // Another name is an error that the validation of the configuration tells.
  const policy = cpuManagerPolicy === "static" ? "static" : "none";
  const read = policy === "static" ? readOptions(cpuManagerPolicyOptions, gates) : readNone(cpuManagerPolicyOptions);
  if (typeof read === "string") {
    errors.push({ path: PATH, message: `${PATH} (--cpu-manager-policy-options): ${read}` });
  } else if (read.alignsToSockets && configuration.topologyManagerPolicy === "single-numa-node") {
    const problem = 'option "align-by-socket" is incompatible with topologyManagerPolicy single-numa-node';
    errors.push({ path: PATH, message: `${PATH} (--cpu-manager-policy-options): ${problem}: leave one of them out` });
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
function readOptions(options: Readonly<Record<string, string>>, gates: FeatureGates): CpuOptions | string {
  let read = NO_OPTIONS;
  for (const [name, text] of Object.entries(options)) {
    const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (option === undefined) return `unknown CPU Manager Policy option: "${name}"`;
    const problem = findClosedGate(option.stage, gates);
    if (problem !== undefined) return `${problem}, but option "${name}" provided`;
    const value = parseGoBoolean(text);
    if (value === undefined) return `bad value for option "${name}": ${JSON.stringify(text)}`;
    read = { ...read, [option.sets]: value };
  }
  const isOn = (name: string) => OPTIONS[name] !== undefined && read[OPTIONS[name].sets];
  const contradiction = EXCLUSIVE.find(([one, other]) => isOn(one) && isOn(other));
  if (contradiction === undefined) return read;
  return `static policy options ${contradiction.join(" and ")} can not be used at the same time`;
}

function findClosedGate(stage: "alpha" | "beta" | "stable", gates: FeatureGates): string | undefined {
  if (stage === "alpha" && !gates.CPUManagerPolicyAlphaOptions) {
    return "CPU Manager Policy Alpha-level Options not enabled (feature gate CPUManagerPolicyAlphaOptions)";
  }
  if (stage === "beta" && !gates.CPUManagerPolicyBetaOptions) {
    return "CPU Manager Policy Beta-level Options not enabled (feature gate CPUManagerPolicyBetaOptions)";
  }
  return undefined;
}
