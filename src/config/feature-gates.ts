import type { ConfigurationError } from "./codec.ts";
import { FEATURE_GATES, type FeatureGate } from "./feature-gate-table.ts";

type FeatureGateName = keyof typeof FEATURE_GATES;

/**
 * The gates that some code here depends on. The others are accepted, checked and reported as a kubelet's are, and have
 * no effect: `FeatureGates` hides them, so that no code can depend on a gate that is not in this list.
 */
export const GATES_IN_USE = [
  "AllowDNSOnlyNodeCSR",
  "CPUManagerPolicyAlphaOptions",
  "CPUManagerPolicyBetaOptions",
  "CRIListStreaming",
  "CSIVolumeHealth",
  "ComponentFlagz",
  "ComponentStatusz",
  "ContainerCheckpoint",
  "CustomCPUCFSQuotaPeriod",
  "DisableCPUQuotaWithExclusiveCPUs",
  "ExtendWebSocketsToKubelet",
  "GracefulNodeShutdown",
  "GracefulNodeShutdownBasedOnPodPriority",
  "ImageVolumeWithDigest",
  "InPlacePodVerticalScalingExclusiveCPUs",
  "InPlacePodVerticalScalingExclusiveMemory",
  "KubeletCrashLoopBackOffMax",
  "KubeletEnsureSecretPulledImages",
  "KubeletSeparateDiskGC",
  "KubeletServiceAccountTokenForCredentialProviders",
  "MemoryQoS",
  "NodeDeclaredFeatures",
  "NodeLogQuery",
  "NodeSwap",
  "PodAndContainerStatsFromCRI",
  "PodLogsQuerySplitStreams",
  "PodsAPI",
  "QOSReserved",
  "ReduceDefaultCrashLoopBackOffDecay",
  "ReloadKubeletServerCertificateFile",
  "ResourceHealthStatus",
  "ResourceHealthStatusMessage",
  "RestartAllContainersOnContainerExits",
  "RotateKubeletServerCertificate",
  "SELinuxMount",
  "UserNamespacesHostNetworkSupport",
] as const satisfies readonly FeatureGateName[];

/** What these gates stand for is always here, whatever they and their defaults say. What others stand for is as their defaults say. */
export const GATES_ALWAYS_ON = [
  "ClusterTrustBundleProjection",
  "ContainerStopSignals",
  "EventedPLEG",
  "PodCertificateRequest",
  "TaintTolerationComparisonOperators",
] as const satisfies readonly FeatureGateName[];

/** Tells for each gate in `GATES_IN_USE` whether it is on; frozen. */
export type FeatureGates = Readonly<Record<(typeof GATES_IN_USE)[number], boolean>>;

interface ResolvedFeatureGates {
  gates: FeatureGates;
  errors: ConfigurationError[];
  /** Warnings about gates that will be removed, as kubelet logs them, and notices of gates without an effect. */
  warnings: string[];
}

/**
 * Describes the gates in the help of `--feature-gates`: upstream's order and stages, without those that are GA or
 * removed.
 */
export function describeFeatureGates(): string[] {
  const shown = (name: string, { stage, enabled }: FeatureGate) => `${name}=true|false (${stage} - default=${enabled})`;
  const groups: Array<readonly [string, FeatureGate]> = [
    ["AllAlpha", { stage: "ALPHA", enabled: false, locked: false }],
    ["AllBeta", { stage: "BETA", enabled: false, locked: false }],
  ];
  return [...groups, ...Object.entries<FeatureGate>(FEATURE_GATES)]
    .filter(([, gate]) => gate.stage === "ALPHA" || gate.stage === "BETA")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, gate]) => shown(name, gate));
}

const IN_USE: ReadonlySet<string> = new Set(GATES_IN_USE);
const ALWAYS_ON: ReadonlySet<string> = new Set(GATES_ALWAYS_ON);
const PATH = "featureGates (--feature-gates)";

/**
 * Resolves the gates that hold when `requested` is set over the defaults. AllAlpha and AllBeta set the gates that are
 * not named separately. An unknown gate, and a locked one set against its default, is an error in upstream's words.
 */
export function resolveFeatureGates(requested: Readonly<Record<string, boolean>>): ResolvedFeatureGates {
  const errors: ConfigurationError[] = [];
  const warnings: string[] = [];
  const wanted = new Map(Object.entries(requested));
  for (const [name, enabled] of wanted) {
    if (name === "AllAlpha" || name === "AllBeta") continue;
    const gate = findGate(name);
    if (gate === undefined) errors.push({ path: PATH, message: `unrecognized feature gate: ${name}` });
    else if (gate.locked && gate.enabled !== enabled) {
      const message = `cannot set feature gate ${name} to ${enabled}, feature is locked to ${gate.enabled}`;
      errors.push({ path: PATH, message });
    } else warnings.push(...warningsOf(name, gate, enabled));
  }
  const gates = mapGates((name, gate) => wanted.get(name) ?? groupValue(gate, wanted) ?? gate.enabled);
  return { gates: Object.freeze(gates), errors, warnings };
}

function findGate(name: string): FeatureGate | undefined {
  const table: Readonly<Record<string, FeatureGate>> = FEATURE_GATES;
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function groupValue(gate: FeatureGate, wanted: ReadonlyMap<string, boolean>): boolean | undefined {
  if (gate.stage === "ALPHA") return wanted.get("AllAlpha");
  return gate.stage === "BETA" ? wanted.get("AllBeta") : undefined;
}

/** Upstream's warning of the stage, and the notice of this build that the gate changes nothing, as one sentence each. */
function warningsOf(name: string, gate: FeatureGate, enabled: boolean): string[] {
  const shown = `${name}=${enabled}`;
  if (gate.stage === "REMOVED") {
    return [`Setting feature gate ${shown} has no effect. Kubernetes has removed this feature gate.`];
  }
  const isLeaving = gate.stage === "GA" || gate.stage === "DEPRECATED";
  const stage = gate.stage === "GA" ? "GA" : "deprecated";
  const removal = `Setting ${stage} feature gate ${shown}. It will be removed in a future release.`;
  const notice = noticeOf(name, gate, enabled);
  return [...(isLeaving ? [removal] : []), ...(notice === undefined ? [] : [notice])];
}

function noticeOf(name: string, gate: FeatureGate, enabled: boolean): string | undefined {
  if (IN_USE.has(name)) return undefined;
  const sentence = `Feature gate ${name}=${enabled} is accepted but has no effect`;
  if (ALWAYS_ON.has(name)) return `${sentence}: what it stands for is always there`;
  return gate.locked ? undefined : sentence;
}

/** Maps every gate's value, also those without effect, because they are reported too. */
function mapGates(compute: (name: string, gate: FeatureGate) => boolean): Readonly<Record<FeatureGateName, boolean>> {
  const entries: Array<[string, boolean]> = [];
  for (const [name, gate] of Object.entries<FeatureGate>(FEATURE_GATES)) entries.push([name, compute(name, gate)]);
  const gates = Object.fromEntries(entries);
  if (!isComplete(gates)) throw new TypeError("a feature gate got lost");
  return gates;
}

function isComplete(gates: Record<string, boolean>): gates is Record<FeatureGateName, boolean> {
  return Object.keys(FEATURE_GATES).every((name) => Object.hasOwn(gates, name));
}
