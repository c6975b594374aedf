import {
  bool,
  defaultsOf,
  duration,
  durationOrNanoseconds,
  type FieldValues,
  float64,
  int32,
  int64,
  listOf,
  mapOf,
  nested,
  objectOf,
  optional,
  pointer,
  quantityText,
  text,
  value,
} from "./codec.ts";

/** Log records are written one by one to one stream, so there is nothing to split or to buffer. */
const LOG_STREAM_FIELDS = {
  splitStream: value(bool, false, "ignored"),
  infoBufferSize: value(quantityText, "0", "ignored"),
};

/**
 * KubeletConfiguration (`kubelet.config.k8s.io/v1beta1`): every field of Kubernetes 1.25 to 1.36. Each field has one
 * line with its type, its default, its effect in this build, and the version since which it exists. Names are
 * upstream's; durations are milliseconds. The defaults are those of a configuration file, also where no file is given.
 * The Go kubelet then falls back to an open read-only port and anonymous access, which this one does not.
 */
export const KUBELET_CONFIGURATION_FIELDS = {
  // Sources of static pods.
  staticPodPath: value(text, "", "works"),
  staticPodURL: value(text, "", "works"),
  staticPodURLHeader: optional(mapOf(listOf(text)), "works"),
  fileCheckFrequency: value(duration, 20_000, "works"),
  httpCheckFrequency: value(duration, 20_000, "works"),
  syncFrequency: value(duration, 60_000, "works"),
  runOnce: value(bool, false, "ignored"),
  podLogsDir: value(text, "/var/log/pods", "works", "1.30"),

  // Servers.
  enableServer: pointer(bool, true, "works"),
  address: value(text, "0.0.0.0", "works"),
  port: value(int32, 10_250, "works"),
  readOnlyPort: value(int32, 0, "works"),
  healthzPort: pointer(int32, 10_248, "works"),
  healthzBindAddress: value(text, "127.0.0.1", "works"),
  tlsCertFile: value(text, "", "works"),
  tlsPrivateKeyFile: value(text, "", "works"),
  tlsCipherSuites: optional(listOf(text), "works"),
  tlsCurvePreferences: optional(listOf(int32), "works", "1.36"),
  tlsMinVersion: value(text, "", "works"),
  rotateCertificates: value(bool, false, "works"),
  serverTLSBootstrap: value(bool, false, "works"),
  authentication: nested(
    {
      x509: nested({ clientCAFile: value(text, "", "works") }, "works"),
      webhook: nested({ enabled: pointer(bool, true, "works"), cacheTTL: value(duration, 120_000, "works") }, "works"),
      anonymous: nested({ enabled: pointer(bool, false, "works") }, "works"),
    },
    "works",
  ),
  authorization: nested(
    {
      mode: value(text, "Webhook", "works"),
      webhook: nested(
        {
          cacheAuthorizedTTL: value(duration, 300_000, "works"),
          cacheUnauthorizedTTL: value(duration, 30_000, "works"),
        },
        "works",
      ),
    },
    "works",
  ),
  enableDebuggingHandlers: pointer(bool, true, "works"),
  enableProfilingHandler: pointer(bool, true, "ignored"),
  enableDebugFlagsHandler: pointer(bool, true, "ignored"),
  enableSystemLogHandler: pointer(bool, true, "works"),
  enableSystemLogQuery: pointer(bool, false, "works", "1.27"),
  enableContentionProfiling: value(bool, false, "ignored"),
  streamingConnectionIdleTimeout: value(duration, 14_400_000, "works"),

  // The node and the API server.
  registerNode: pointer(bool, true, "works"),
  registerWithTaints: optional(
    listOf(
      objectOf({
        key: value(text, "", "works"),
        value: value(text, "", "works"),
        effect: value(text, "", "works"),
        timeAdded: optional(text, "works"),
      }),
    ),
    "works",
  ),
  providerID: value(text, "", "works"),
  nodeStatusUpdateFrequency: value(duration, 10_000, "works"),
  nodeStatusReportFrequency: value(duration, 300_000, "works"),
  nodeLeaseDurationSeconds: value(int32, 40, "works"),
  nodeStatusMaxImages: pointer(int32, 50, "works"),
  maxPods: value(int32, 110, "works"),
  podsPerCore: value(int32, 0, "works"),
  podCIDR: value(text, "", "works"),
  kubeAPIQPS: pointer(int32, 50, "works"),
  kubeAPIBurst: value(int32, 100, "works"),
  eventRecordQPS: pointer(int32, 50, "works"),
  eventBurst: value(int32, 100, "works"),
  contentType: value(text, "application/vnd.kubernetes.protobuf", "ignored"),
  configMapAndSecretChangeDetectionStrategy: value(text, "Watch", "works"),

  // Images.
  registryPullQPS: pointer(int32, 5, "works"),
  registryBurst: value(int32, 10, "works"),
  serializeImagePulls: pointer(bool, true, "works"),
  maxParallelImagePulls: optional(int32, "works", "1.27"),
  imageMinimumGCAge: value(duration, 120_000, "works"),
  imageMaximumGCAge: value(duration, 0, "works", "1.29"),
  imageGCHighThresholdPercent: pointer(int32, 85, "works"),
  imageGCLowThresholdPercent: pointer(int32, 80, "works"),
  imagePullCredentialsVerificationPolicy: value(text, "", "works", "1.33"),
  preloadedImagesVerificationAllowlist: optional(listOf(text), "works", "1.33"),

  // The runtime and cgroups.
  containerRuntimeEndpoint: value(text, "unix:///run/containerd/containerd.sock", "works", "1.27"),
  imageServiceEndpoint: value(text, "", "works", "1.27"),
  runtimeRequestTimeout: value(duration, 120_000, "works"),
  kubeletCgroups: value(text, "", "works"),
  systemCgroups: value(text, "", "works"),
  cgroupRoot: value(text, "", "works"),
  cgroupsPerQOS: pointer(bool, true, "works"),
  cgroupDriver: value(text, "cgroupfs", "works"),
  /** The default is false, unlike Kubernetes' since 1.35, because both versions of cgroups work here. */
  failCgroupV1: pointer(bool, false, "works", "1.31"),
  cpuCFSQuota: pointer(bool, true, "works"),
  cpuCFSQuotaPeriod: pointer(duration, 100, "works"),
  podPidsLimit: pointer(int64, -1, "works"),
  maxOpenFiles: value(int64, 1_000_000, "ignored"),
  oomScoreAdj: pointer(int32, -999, "works"),
  seccompDefault: pointer(bool, false, "works"),
  singleProcessOOMKill: optional(bool, "works", "1.32"),
  userNamespaces: optional(objectOf({ idsPerPod: pointer(int64, 65_536, "works") }), "works", "1.33"),
  allowedUnsafeSysctls: optional(listOf(text), "works"),
  protectKernelDefaults: value(bool, false, "works"),

  // Resources of the node.
  cpuManagerPolicy: value(text, "none", "works"),
  cpuManagerPolicyOptions: optional(mapOf(text), "works"),
  cpuManagerReconcilePeriod: value(duration, 10_000, "works"),
  memoryManagerPolicy: value(text, "None", "works"),
  reservedMemory: optional(
    listOf(objectOf({ numaNode: pointer(int32, 0, "works"), limits: optional(mapOf(quantityText), "works") })),
    "works",
  ),
  topologyManagerPolicy: value(text, "none", "works"),
  topologyManagerPolicyOptions: optional(mapOf(text), "works", "1.26"),
  topologyManagerScope: value(text, "container", "works"),
  qosReserved: optional(mapOf(text), "works"),
  systemReserved: optional(mapOf(text), "works"),
  kubeReserved: optional(mapOf(text), "works"),
  reservedSystemCPUs: value(text, "", "works"),
  systemReservedCgroup: value(text, "", "works"),
  kubeReservedCgroup: value(text, "", "works"),
  enforceNodeAllocatable: optional(listOf(text), "works"),
  failSwapOn: pointer(bool, true, "works"),
  memorySwap: nested({ swapBehavior: value(text, "", "works") }, "works"),
  memoryThrottlingFactor: pointer(float64, 0.9, "works"),
  memoryReservationPolicy: value(text, "None", "works", "1.36"),

  // Eviction and local storage.
  evictionHard: optional(mapOf(text), "works"),
  evictionSoft: optional(mapOf(text), "works"),
  evictionSoftGracePeriod: optional(mapOf(text), "works"),
  evictionPressureTransitionPeriod: value(duration, 300_000, "works"),
  evictionMaxPodGracePeriod: value(int32, 0, "works"),
  evictionMinimumReclaim: optional(mapOf(text), "works"),
  mergeDefaultEvictionSettings: pointer(bool, false, "works", "1.32"),
  kernelMemcgNotification: value(bool, false, "works"),
  localStorageCapacityIsolation: pointer(bool, true, "works"),
  volumeStatsAggPeriod: value(duration, 60_000, "works"),

  // Logs of containers, the life cycle of pods and of the node.
  containerLogMaxSize: value(text, "10Mi", "works"),
  containerLogMaxFiles: pointer(int32, 5, "works"),
  containerLogMaxWorkers: pointer(int32, 1, "works", "1.30"),
  containerLogMonitorInterval: pointer(duration, 10_000, "works", "1.30"),
  shutdownGracePeriod: value(duration, 0, "works"),
  shutdownGracePeriodCriticalPods: value(duration, 0, "works"),
  shutdownGracePeriodByPodPriority: optional(
    listOf(objectOf({ priority: value(int32, 0, "works"), shutdownGracePeriodSeconds: value(int64, 0, "works") })),
    "works",
  ),
  crashLoopBackOff: nested({ maxContainerRestartPeriod: optional(duration, "works") }, "works", "1.32"),

  // DNS, network, volumes.
  clusterDomain: value(text, "", "works"),
  clusterDNS: optional(listOf(text), "works"),
  resolvConf: pointer(text, "/etc/resolv.conf", "works"),
  hairpinMode: value(text, "promiscuous-bridge", "ignored"),
  makeIPTablesUtilChains: pointer(bool, true, "works"),
  iptablesMasqueradeBit: pointer(int32, 14, "ignored"),
  iptablesDropBit: pointer(int32, 15, "ignored"),
  volumePluginDir: value(text, "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/", "ignored"),
  enableControllerAttachDetach: pointer(bool, true, "works"),

  // This process.
  featureGates: optional(mapOf(bool), "works"),
  logging: nested(
    {
      format: value(text, "text", "works"),
      flushFrequency: value(durationOrNanoseconds, 5_000, "ignored"),
      verbosity: value(int32, 0, "works"),
      vmodule: optional(
        listOf(objectOf({ filePattern: value(text, "", "works"), verbosity: value(int32, 0, "works") })),
        "works",
      ),
      options: nested(
        { text: nested(LOG_STREAM_FIELDS, "ignored"), json: nested(LOG_STREAM_FIELDS, "ignored") },
        "ignored",
      ),
    },
    "works",
  ),
  tracing: optional(
    objectOf({ endpoint: optional(text, "works"), samplingRatePerMillion: optional(int32, "works") }),
    "works",
  ),
  showHiddenMetricsForVersion: value(text, "", "ignored"),
};

/** The kubelet's configuration, complete: file, drop-ins and flags merged over the defaults, frozen. */
export type KubeletConfiguration = FieldValues<typeof KUBELET_CONFIGURATION_FIELDS>;

/** Hard thresholds that hold where the configuration names none (`mergeDefaultEvictionSettings` adds them to some). */
const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
};

export const DEFAULT_KUBELET_CONFIGURATION: KubeletConfiguration = computeDerivedDefaults(
  defaultsOf(KUBELET_CONFIGURATION_FIELDS),
  {},
);

/**
 * Computes the defaults that depend on other fields. `given` is the file as it was written, and distinguishes an
 * explicit value from one that was filled in.
 */
export function computeDerivedDefaults(
  decoded: KubeletConfiguration,
  given: Readonly<Record<string, unknown>>,
): KubeletConfiguration {
  const isGiven = (field: string) => given[field] !== undefined && given[field] !== null;
  const pullsInParallel = (decoded.maxParallelImagePulls ?? 0) >= 2;
  // A user who sets how often the status is computed, and nothing else, wants it reported that often too.
  const reportsAsUpdated = isGiven("nodeStatusUpdateFrequency") && !isGiven("nodeStatusReportFrequency");
  return {
    ...decoded,
    nodeStatusReportFrequency: reportsAsUpdated ? decoded.nodeStatusUpdateFrequency : decoded.nodeStatusReportFrequency,
    serializeImagePulls: isGiven("serializeImagePulls") ? decoded.serializeImagePulls : !pullsInParallel,
    podPidsLimit: decoded.podPidsLimit < 0 ? -1 : decoded.podPidsLimit,
    enforceNodeAllocatable: decoded.enforceNodeAllocatable ?? ["pods"],
    evictionHard: computeEvictionHard(decoded),
  };
}

function computeEvictionHard(decoded: KubeletConfiguration): Readonly<Record<string, string>> {
  if (decoded.evictionHard === undefined) return DEFAULT_EVICTION_HARD;
  return decoded.mergeDefaultEvictionSettings
    ? { ...DEFAULT_EVICTION_HARD, ...decoded.evictionHard }
    : decoded.evictionHard;
}
