import { parseImageReference } from "../api/image-reference.ts";
import type { ConfigurationError } from "./codec.ts";
import { formatDuration } from "./duration.ts";
import type { FeatureGates } from "./feature-gates.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";
import { type Report, validateNodeResources, validOptions } from "./validate-node-resources.ts";
import { validateTracing } from "./validate-tracing.ts";

/**
 * Returns what a Go kubelet refuses in a configuration, in its words and with the field that is wrong. Empty when it is
 * valid. Only the sum of flags and file is validated: neither has to be complete by itself.
 */
export function validateKubeletConfiguration(
  configuration: KubeletConfiguration,
  gates: FeatureGates,
): ConfigurationError[] {
  const errors: ConfigurationError[] = [];
  const report: Report = (path, message) => errors.push({ path, message: `invalid configuration: ${message}` });
  validateRanges(configuration, report);
  validatePorts(configuration, report);
  validateImages(configuration, gates, report);
  validateShutdown(configuration, gates, report);
  validateContainerLogs(configuration, report);
  validateRuntime(configuration, gates, report);
  validateLogging(configuration, report);
  validateNodeResources(configuration, gates, report);
  validateTracing(configuration, report);
  return errors;
}

function validateRanges(configuration: KubeletConfiguration, report: Report): void {
  const notNegative = [
    ["eventBurst", "--event-burst"],
    ["eventRecordQPS", "--event-qps"],
    ["kubeAPIBurst", "--kube-api-burst"],
    ["kubeAPIQPS", "--kube-api-qps"],
    ["maxOpenFiles", "--max-open-files"],
    ["maxPods", "--max-pods"],
    ["podsPerCore", "--pods-per-core"],
    ["registryBurst", "--registry-burst"],
    ["registryPullQPS", "--registry-qps"],
  ] satisfies ReadonlyArray<readonly [keyof KubeletConfiguration, string]>;
  for (const [field, flag] of notNegative) {
    const number = configuration[field];
    if (typeof number === "number" && number < 0) {
      report(field, `${field} (${flag}) ${number} must not be a negative number`);
    }
  }
  const within = [
    ["imageGCHighThresholdPercent", "--image-gc-high-threshold", 0, 100],
    ["imageGCLowThresholdPercent", "--image-gc-low-threshold", 0, 100],
    ["iptablesDropBit", "--iptables-drop-bit", 0, 31],
    ["iptablesMasqueradeBit", "--iptables-masquerade-bit", 0, 31],
    ["oomScoreAdj", "--oom-score-adj", -1000, 1000],
  ] satisfies ReadonlyArray<readonly [keyof KubeletConfiguration, string, number, number]>;
  for (const [field, flag, lowest, highest] of within) {
    const number = configuration[field];
    if (typeof number === "number" && (number < lowest || number > highest)) {
      report(field, `${field} (${flag}) ${number} must be between ${lowest} and ${highest}, inclusive`);
    }
  }
  if (configuration.nodeLeaseDurationSeconds <= 0) {
    report("nodeLeaseDurationSeconds", "nodeLeaseDurationSeconds must be greater than 0");
  }
  if (configuration.nodeStatusMaxImages < -1) {
    const { nodeStatusMaxImages } = configuration;
    report(
      "nodeStatusMaxImages",
      `nodeStatusMaxImages (--node-status-max-images) ${nodeStatusMaxImages} must be -1 or greater`,
    );
  }
  if (configuration.runOnce) {
    report("runOnce", "runOnce (--runonce) true, Runonce mode has been deprecated and should not be set");
  }
}

function validatePorts(configuration: KubeletConfiguration, report: Report): void {
  const isPort = (port: number) => port >= 1 && port <= 65_535;
  const { port, readOnlyPort, healthzPort } = configuration;
  if (!isPort(port)) report("port", `port (--port) ${port} must be between 1 and 65535, inclusive`);
  if (readOnlyPort !== 0 && !isPort(readOnlyPort)) {
    report("readOnlyPort", `readOnlyPort (--read-only-port) ${readOnlyPort} must be between 0 and 65535, inclusive`);
  }
  if (healthzPort !== 0 && !isPort(healthzPort)) {
    report("healthzPort", `healthzPort (--healthz-port) ${healthzPort} must be between 1 and 65535, inclusive`);
  }
}

function validateImages(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high } = configuration;
  if (low >= high) {
    report(
      "imageGCLowThresholdPercent",
      `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
    );
  }
  const { imageMinimumGCAge: youngest, imageMaximumGCAge: oldest } = configuration;
  if (youngest < 0) report("imageMinimumGCAge", `imageMinimumGCAge ${formatDuration(youngest)} must not be negative`);
  if (oldest < 0) report("imageMaximumGCAge", `imageMaximumGCAge ${formatDuration(oldest)} must not be negative`);
  if (oldest > 0 && oldest <= youngest) {
    const ages = [formatDuration(oldest), formatDuration(youngest)] as const;
    report("imageMaximumGCAge", `imageMaximumGCAge ${ages[0]} must be greater than imageMinimumGCAge ${ages[1]}`);
  }
  const { maxParallelImagePulls, serializeImagePulls } = configuration;
  if (maxParallelImagePulls !== undefined && maxParallelImagePulls < 1) {
    report("maxParallelImagePulls", `maxParallelImagePulls ${maxParallelImagePulls} must be a positive number`);
  }
  if (serializeImagePulls && (maxParallelImagePulls ?? 1) > 1) {
    report(
      "maxParallelImagePulls",
      "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false",
    );
  }
  validatePullCredentials(configuration, gates, report);
}

const VERIFICATION_POLICIES = [
  "NeverVerify",
  "NeverVerifyPreloadedImages",
  "NeverVerifyAllowlistedImages",
  "AlwaysVerify",
];

function validatePullCredentials(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  const policy = configuration.imagePullCredentialsVerificationPolicy;
  const hasList = (configuration.preloadedImagesVerificationAllowlist ?? []).length > 0;
  if (!gates.KubeletEnsureSecretPulledImages) {
    const rest = "must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled";
    if (policy !== "")
      report("imagePullCredentialsVerificationPolicy", `\`imagePullCredentialsVerificationPolicy\` ${rest}`);
    if (hasList) report("preloadedImagesVerificationAllowlist", `\`preloadedImagesVerificationAllowlist\` ${rest}`);
    return;
  }
  // An empty policy is NeverVerifyPreloadedImages, which the reader of the field supplies.
  if (policy !== "" && !VERIFICATION_POLICIES.includes(policy)) {
    report(
      "imagePullCredentialsVerificationPolicy",
      `option "${policy}" specified for imagePullCredentialsVerificationPolicy. ${validOptions(...VERIFICATION_POLICIES)}`,
    );
  }
  if (hasList && policy !== "NeverVerifyAllowlistedImages") {
    report(
      "preloadedImagesVerificationAllowlist",
      'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVerificationPolicy` is not "NeverVerifyAllowlistedImages"',
    );
    return;
  }
  const problem = (configuration.preloadedImagesVerificationAllowlist ?? []).map(findPatternProblem).find(Boolean);
  if (problem === undefined) return;
  const field = "preloadedImagesVerificationAllowlist";
  report(field, `invalid image pattern in \`${field}\`: ${problem}`);
}

/**
 * Returns what is wrong with `registry.example/team/*` or `registry.example/app`, in the words of
 * image_pull_policies.go.
 */
function findPatternProblem(pattern: string): string | undefined {
  if (pattern !== pattern.trim()) return `leading/trailing spaces are not allowed: ${pattern}`;
  const isWildcard = pattern.endsWith("/*");
  const name = isWildcard ? pattern.slice(0, -1) : pattern;
  if (name === "") return `the supplied pattern is too short: ${pattern}`;
  if (name.includes("*")) return `not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${pattern}`;
  if (isWildcard) return name === "/" ? "at least registry hostname is required" : undefined;
  const repository = parseImageReference(name)?.repository;
  if (repository === undefined) return "failed to parse as an image name: invalid reference format";
  return repository === name ? undefined : `neither tag nor digest is accepted in an image reference: ${pattern}`;
}

function validateShutdown(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  const { shutdownGracePeriod: total, shutdownGracePeriodCriticalPods: critical } = configuration;
  const byPriority = (configuration.shutdownGracePeriodByPodPriority ?? []).length > 0;
  if (!gates.GracefulNodeShutdown && (total > 0 || critical > 0)) {
    report(
      "shutdownGracePeriod",
      "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown",
    );
  }
  if (gates.GracefulNodeShutdown) {
    if (critical > total) {
      report(
        "shutdownGracePeriodCriticalPods",
        `shutdownGracePeriodCriticalPods ${formatDuration(critical)} must be <= shutdownGracePeriod ${formatDuration(total)}`,
      );
    }
    for (const field of ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"] as const) {
      const period = configuration[field];
      if (period !== 0 && period < 1_000) {
        report(field, `${field} ${formatDuration(period)} must be either zero or otherwise >= 1 sec`);
      }
    }
  }
  if (!byPriority) return;
  const field = "shutdownGracePeriodByPodPriority";
  if (!gates.GracefulNodeShutdownBasedOnPodPriority) {
    report(field, `Specifying ${field} requires feature gate GracefulNodeShutdownBasedOnPodPriority`);
  } else if (total > 0 || critical > 0) {
    report(field, `Cannot specify both ${field} and shutdownGracePeriod at the same time`);
  }
}

function validateContainerLogs(configuration: KubeletConfiguration, report: Report): void {
  const { podLogsDir } = configuration;
  if (configuration.containerLogMaxWorkers < 1) {
    report("containerLogMaxWorkers", "containerLogMaxWorkers must be greater than or equal to 1");
  }
  if (configuration.containerLogMonitorInterval < 3_000) {
    const rest = "must be a positive time duration greater than or equal to 3s";
    report("containerLogMonitorInterval", `containerLogMonitorInterval ${rest}`);
  }
  if (configuration.containerLogMaxFiles <= 1) {
    report("containerLogMaxFiles", "containerLogMaxFiles must be greater than 1");
  }
  if (podLogsDir === "") report("podLogsDir", "podLogsDir was not specified");
  else if (!podLogsDir.startsWith("/")) report("podLogsDir", `pod logs path "${podLogsDir}" must be absolute path`);
  else if (/\/\/|\/\.\.?(\/|$)|.\/$/.test(podLogsDir)) {
    report("podLogsDir", `pod logs path "${podLogsDir}" must be normalized`);
  }
  if (/[^\0-\x7f]/.test(podLogsDir)) {
    report("podLogsDir", `pod logs path "${podLogsDir}" must contain ASCII characters only`);
  }
}

function validateRuntime(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  const { containerRuntimeEndpoint: runtime, imageServiceEndpoint: images, cpuCFSQuotaPeriod: period } = configuration;
  if (runtime === "") {
    report("containerRuntimeEndpoint", "the containerRuntimeEndpoint was not specified or empty");
  } else if (!isUnixEndpoint(runtime)) {
    report(
      "containerRuntimeEndpoint",
      `containerRuntimeEndpoint (--container-runtime-endpoint) ${mendEndpoint(runtime)}`,
    );
  }
  if (images !== "" && !isUnixEndpoint(images)) {
    report("imageServiceEndpoint", `imageServiceEndpoint (--image-service-endpoint) ${mendEndpoint(images)}`);
  }
  const quota = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${formatDuration(period)}`;
  if (!gates.CustomCPUCFSQuotaPeriod && period !== 100) {
    report("cpuCFSQuotaPeriod", `${quota} requires feature gate CustomCPUCFSQuotaPeriod`);
  } else if (period < 1 || period > 1_000) {
    report("cpuCFSQuotaPeriod", `${quota} must be between 1ms and 1sec, inclusive`);
  }
  const restartPeriod = configuration.crashLoopBackOff.maxContainerRestartPeriod;
  if (restartPeriod === undefined) return;
  if (!gates.KubeletCrashLoopBackOffMax) {
    report(
      "crashLoopBackOff.maxContainerRestartPeriod",
      "FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set",
    );
  } else if (restartPeriod < 1_000 || restartPeriod > 300_000) {
    report(
      "crashLoopBackOff.maxContainerRestartPeriod",
      `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${restartPeriod / 1_000} seconds) must be set between 1s and 300s`,
    );
  }
}

/** The form is `unix:///path`; earlier kubelets also took `unix:/path` and a path alone. */
function isUnixEndpoint(endpoint: string): boolean {
  return /^(unix:(\/\/)?)?\/[^\0/][^\0]*$/.test(endpoint);
}

function mendEndpoint(endpoint: string): string {
  return `"${endpoint}" must be the URL of a unix socket with an absolute path, like unix:///run/containerd/containerd.sock`;
}

function validateLogging(configuration: KubeletConfiguration, report: Report): void {
  const { format, verbosity, vmodule } = configuration.logging;
  if (format !== "text" && format !== "json") {
    report(
      "logging.format",
      `logging.format (--logging-format): Invalid value: "${format}": Unsupported log format, use "text" or "json"`,
    );
  }
  if (verbosity < 0) report("logging.verbosity", `logging.verbosity (--v): Invalid value: ${verbosity}: Must be >= 0`);
  for (const [index, { filePattern }] of (vmodule ?? []).entries()) {
    const path = `logging.vmodule[${index}]`;
    if (filePattern === "") report(path, `${path}: Required value: File pattern must not be empty`);
    else if (/[=,]/.test(filePattern)) {
      report(path, `${path}: Invalid value: "${filePattern}": File pattern must not contain equal sign or comma`);
    }
  }
}
