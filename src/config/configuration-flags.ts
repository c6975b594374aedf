import type { Effect, FieldTable } from "./codec.ts";
import { describeFeatureGates } from "./feature-gates.ts";
import {
  BOOL_FLAG,
  DURATION_FLAG,
  FEATURE_GATES_FLAG,
  type Flag,
  type FlagType,
  HEADERS_FLAG,
  INT_FLAG,
  INT32_FLAG,
  IP_FLAG,
  LEVEL_FLAG,
  MAP_FLAG,
  QUANTITY_FLAG,
  RESERVED_MEMORY_FLAG,
  STRING_FLAG,
  STRINGS_FLAG,
  TAINTS_FLAG,
  THRESHOLDS_FLAG,
  VMODULE_FLAG,
} from "./flag-types.ts";
import { DEFAULT_KUBELET_CONFIGURATION, KUBELET_CONFIGURATION_FIELDS } from "./kubelet-configuration.ts";

/**
 * A row has the flag, the field that it sets, the help, and a type where the field's own type does not give the syntax.
 */
type Row = readonly [name: string, field: string, help: string, type?: FlagType];

/** Upstream keeps these flags; all others of this table are deprecated in favour of the file. */
const NOT_DEPRECATED = new Set([
  "v",
  "vmodule",
  "log-flush-frequency",
  "provider-id",
  "seccomp-default",
  "fail-cgroupv1",
]);

const FIELD_FLAG_TYPES: Readonly<Record<string, FlagType>> = {
  bool: BOOL_FLAG,
  int32: INT32_FLAG,
  int64: INT_FLAG,
  string: STRING_FLAG,
  duration: DURATION_FLAG,
  quantity: QUANTITY_FLAG,
  "[]string": STRINGS_FLAG,
  "map[string]string": MAP_FLAG,
};

const ROWS: readonly Row[] = [
  ["address", "address", "IP address that the server listens on; 0.0.0.0 or :: for all interfaces", IP_FLAG],
  [
    "allowed-unsafe-sysctls",
    "allowedUnsafeSysctls",
    "Comma-separated list of unsafe sysctls, or patterns of them that end in *, that pods may set",
  ],
  [
    "anonymous-auth",
    "authentication.anonymous.enabled",
    "Let requests to the server pass that no other method authenticates, as user system:anonymous of group system:unauthenticated",
  ],
  [
    "authentication-token-webhook",
    "authentication.webhook.enabled",
    "Authenticate bearer tokens through the TokenReview API",
  ],
  [
    "authentication-token-webhook-cache-ttl",
    "authentication.webhook.cacheTTL",
    "How long the answer for a bearer token is kept",
  ],
  [
    "authorization-mode",
    "authorization.mode",
    "How requests to the server are authorized: AlwaysAllow, or Webhook, which asks the SubjectAccessReview API",
  ],
  [
    "authorization-webhook-cache-authorized-ttl",
    "authorization.webhook.cacheAuthorizedTTL",
    "How long an answer that allows is kept",
  ],
  [
    "authorization-webhook-cache-unauthorized-ttl",
    "authorization.webhook.cacheUnauthorizedTTL",
    "How long an answer that refuses is kept",
  ],
  ["cgroup-driver", "cgroupDriver", "How cgroups are made on this machine: cgroupfs or systemd"],
  ["cgroup-root", "cgroupRoot", "The cgroup below which pods get theirs, which must exist; / where empty"],
  ["cgroups-per-qos", "cgroupsPerQOS", "Make a cgroup for each QoS class and each pod"],
  [
    "client-ca-file",
    "authentication.x509.clientCAFile",
    "Certificate authorities whose client certificates are accepted; the common name is the user, the organizations are the groups",
  ],
  [
    "cluster-dns",
    "clusterDNS",
    "Comma-separated list of DNS servers for containers of pods with dnsPolicy ClusterFirst; all must serve the same records",
  ],
  [
    "cluster-domain",
    "clusterDomain",
    "Domain of the cluster, which containers search besides the host's search domains",
  ],
  ["container-log-max-files", "containerLogMaxFiles", "How many log files a container may have, at least 2"],
  ["container-log-max-size", "containerLogMaxSize", "Size, such as 10Mi, at which a container's log file is rotated"],
  [
    "container-runtime-endpoint",
    "containerRuntimeEndpoint",
    "Unix socket of the container runtime, such as unix:///run/containerd/containerd.sock",
  ],
  ["contention-profiling", "enableContentionProfiling", "Profile blocking, where profiling is enabled"],
  ["cpu-cfs-quota", "cpuCFSQuota", "Enforce the CPU limits of containers by CFS quota"],
  ["cpu-cfs-quota-period", "cpuCFSQuotaPeriod", "Period of the CFS quota, cpu.cfs_period_us"],
  ["cpu-manager-policy", "cpuManagerPolicy", "How CPUs are given to containers: none or static"],
  ["cpu-manager-policy-options", "cpuManagerPolicyOptions", "key=value options that tune the CPU manager's policy"],
  [
    "cpu-manager-reconcile-period",
    "cpuManagerReconcilePeriod",
    "How often the CPU manager checks what containers have",
  ],
  [
    "enable-controller-attach-detach",
    "enableControllerAttachDetach",
    "Leave attaching and detaching of volumes to the controller",
  ],
  ["enable-debugging-handlers", "enableDebuggingHandlers", "Serve logs, and run commands in containers"],
  ["enable-server", "enableServer", "Run the server"],
  [
    "enforce-node-allocatable",
    "enforceNodeAllocatable",
    "Comma-separated list of what is held to its share of the node: none, pods, system-reserved, system-reserved-compressible, kube-reserved, kube-reserved-compressible; the reserved ones need --system-reserved-cgroup or --kube-reserved-cgroup",
  ],
  ["event-burst", "eventBurst", "How many events may go out at once, above --event-qps"],
  ["event-qps", "eventRecordQPS", "How many events may go out each second"],
  [
    "eviction-hard",
    "evictionHard",
    "Thresholds, such as memory.available<1Gi, that evict pods at once when they are met",
    THRESHOLDS_FLAG,
  ],
  [
    "eviction-max-pod-grace-period",
    "evictionMaxPodGracePeriod",
    "Longest grace period, in seconds, of a pod that a soft threshold evicts; the pod's own where negative",
  ],
  [
    "eviction-minimum-reclaim",
    "evictionMinimumReclaim",
    "Least amounts, such as imagefs.available=2Gi, to reclaim of a resource under pressure",
  ],
  [
    "eviction-pressure-transition-period",
    "evictionPressureTransitionPeriod",
    "How long pressure must be gone before its condition goes",
  ],
  [
    "eviction-soft",
    "evictionSoft",
    "Thresholds, such as memory.available<1.5Gi, that evict pods when they are met for a grace period",
    THRESHOLDS_FLAG,
  ],
  [
    "eviction-soft-grace-period",
    "evictionSoftGracePeriod",
    "Grace periods, such as memory.available=1m30s, of the soft thresholds",
  ],
  ["fail-cgroupv1", "failCgroupV1", "Refuse to start on a machine with cgroup v1"],
  ["fail-swap-on", "failSwapOn", "Refuse to start while swap is enabled"],
  [
    "feature-gates",
    "featureGates",
    `key=value pairs that switch features. Options are:\n${describeFeatureGates().join("\n")}`,
    FEATURE_GATES_FLAG,
  ],
  [
    "file-check-frequency",
    "fileCheckFrequency",
    "How often the static pod files are checked, besides the notice of each change",
  ],
  [
    "hairpin-mode",
    "hairpinMode",
    "How a pod reaches itself through its Service: promiscuous-bridge, hairpin-veth or none",
  ],
  [
    "healthz-bind-address",
    "healthzBindAddress",
    "IP address that the healthz server listens on; 0.0.0.0 or :: for all interfaces",
    IP_FLAG,
  ],
  ["healthz-port", "healthzPort", "Port of the healthz server; 0 for none"],
  ["http-check-frequency", "httpCheckFrequency", "How often --manifest-url is asked"],
  [
    "image-gc-high-threshold",
    "imageGCHighThresholdPercent",
    "Percentage of disk usage from which unused images are always removed; 100 for never",
  ],
  [
    "image-gc-low-threshold",
    "imageGCLowThresholdPercent",
    "Percentage of disk usage down to which unused images are removed; below --image-gc-high-threshold",
  ],
  [
    "image-service-endpoint",
    "imageServiceEndpoint",
    "Unix socket of the image service; that of --container-runtime-endpoint where empty",
  ],
  ["iptables-drop-bit", "iptablesDropBit", "Bit of the fwmark space that marked packets for dropping"],
  ["iptables-masquerade-bit", "iptablesMasqueradeBit", "Bit of the fwmark space that marked packets for SNAT"],
  [
    "kernel-memcg-notification",
    "kernelMemcgNotification",
    "Let the kernel tell when a memory threshold is crossed, rather than poll",
  ],
  ["kube-api-burst", "kubeAPIBurst", "How many requests may go to the API server at once, above --kube-api-qps"],
  ["kube-api-content-type", "contentType", "Content type of requests to the API server"],
  ["kube-api-qps", "kubeAPIQPS", "How many requests may go to the API server each second"],
  [
    "kube-reserved",
    "kubeReserved",
    "Resources, such as cpu=200m,memory=500Mi,ephemeral-storage=1Gi,pid=1000, reserved for Kubernetes' own processes",
  ],
  [
    "kube-reserved-cgroup",
    "kubeReservedCgroup",
    "Absolute name of the cgroup that holds Kubernetes' own processes, for --kube-reserved",
  ],
  ["kubelet-cgroups", "kubeletCgroups", "Absolute name of the cgroup to run in"],
  [
    "local-storage-capacity-isolation",
    "localStorageCapacityIsolation",
    "Hold containers to their share of ephemeral storage",
  ],
  ["log-flush-frequency", "logging.flushFrequency", "Longest time between flushes of the log"],
  [
    "log-json-info-buffer-size",
    "logging.options.json.infoBufferSize",
    "Size of the buffer of info messages in JSON format with split streams",
  ],
  [
    "log-json-split-stream",
    "logging.options.json.splitStream",
    "Write errors to stderr and the rest to stdout in JSON format",
  ],
  [
    "log-text-info-buffer-size",
    "logging.options.text.infoBufferSize",
    "Size of the buffer of info messages in text format with split streams",
  ],
  [
    "log-text-split-stream",
    "logging.options.text.splitStream",
    "Write errors to stderr and the rest to stdout in text format",
  ],
  ["logging-format", "logging.format", 'Format of the log: "json" or "text"'],
  [
    "make-iptables-util-chains",
    "makeIPTablesUtilChains",
    "Keep the iptables chain that tells others which iptables this machine uses",
  ],
  ["manifest-url", "staticPodURL", "URL that more static pods are read from"],
  [
    "manifest-url-header",
    "staticPodURLHeader",
    "Comma-separated list of HTTP headers, Name:value, for --manifest-url; may be given several times, and several values of one name keep their order",
    HEADERS_FLAG,
  ],
  ["max-open-files", "maxOpenFiles", "How many files this process may open"],
  ["max-pods", "maxPods", "How many pods may run on this node"],
  ["memory-manager-policy", "memoryManagerPolicy", "How memory is given to containers: None or Static"],
  ["minimum-image-ttl-duration", "imageMinimumGCAge", "How long an image must be unused before it may be removed"],
  ["node-status-max-images", "nodeStatusMaxImages", "How many images the node's status names; -1 for all"],
  [
    "node-status-update-frequency",
    "nodeStatusUpdateFrequency",
    "How often the node's status is computed and, when it changed, sent",
  ],
  ["oom-score-adj", "oomScoreAdj", "oom_score_adj of this process, from -1000 to 1000"],
  ["pod-cidr", "podCIDR", "Range of pod addresses, in standalone mode only; the API server gives it otherwise"],
  [
    "pod-manifest-path",
    "staticPodPath",
    "Directory of static pod files to run, or one such file; names that begin with a dot are left out",
  ],
  ["pod-max-pids", "podPidsLimit", "How many processes a pod may have; as many as the node allows where -1"],
  ["pods-per-core", "podsPerCore", "How many pods may run for each core, up to --max-pods; 0 for no such limit"],
  ["port", "port", "Port of the server"],
  [
    "protect-kernel-defaults",
    "protectKernelDefaults",
    "Refuse to start when the kernel is not set up as expected, rather than set it up",
  ],
  ["provider-id", "providerID", "What the machine is called where machines are kept, such as by the cloud provider"],
  [
    "qos-reserved",
    "qosReserved",
    "Percentages, such as memory=50%, of a resource that are kept for pods of a better QoS class; needs the QOSReserved feature gate",
  ],
  ["read-only-port", "readOnlyPort", "Port of the read-only server, which asks for no authentication; 0 for none"],
  ["register-node", "registerNode", "Register the node with the API server, where --kubeconfig names one"],
  [
    "register-with-taints",
    "registerWithTaints",
    'Taints, comma separated as "<key>=<value>:<effect>", to register the node with',
    TAINTS_FLAG,
  ],
  ["registry-burst", "registryBurst", "How many image pulls may begin at once, above --registry-qps"],
  ["registry-qps", "registryPullQPS", "How many image pulls may begin each second; 0 for no limit"],
  [
    "reserved-cpus",
    "reservedSystemCPUs",
    "Comma-separated list of CPUs, or ranges of them, that are kept for the system; goes before the CPUs of --system-reserved and --kube-reserved",
  ],
  [
    "reserved-memory",
    "reservedMemory",
    "Memory kept on each NUMA node, such as 0:memory=1Gi,hugepages-1M=2Gi; may be given several times",
    RESERVED_MEMORY_FLAG,
  ],
  ["resolv-conf", "resolvConf", "Resolver configuration that those of containers are made from"],
  [
    "rotate-certificates",
    "rotateCertificates",
    "Ask the API server for a new client certificate before the old one expires",
  ],
  [
    "rotate-server-certificates",
    "serverTLSBootstrap",
    "Ask the API server for the serving certificate, and for a new one before it expires; requests need to be approved",
  ],
  ["runonce", "runOnce", "Start the static pods and exit; refused, as by kubelets since 1.35"],
  [
    "runtime-request-timeout",
    "runtimeRequestTimeout",
    "Longest time of a request to the runtime that is no pull, log, exec or attach",
  ],
  ["seccomp-default", "seccompDefault", "Use RuntimeDefault as the default seccomp profile of all containers"],
  ["serialize-image-pulls", "serializeImagePulls", "Pull one image at a time"],
  [
    "streaming-connection-idle-timeout",
    "streamingConnectionIdleTimeout",
    "How long a streaming connection may be idle; 0 for any time",
  ],
  ["sync-frequency", "syncFrequency", "Longest time between two looks at a pod, whatever happens"],
  [
    "system-cgroups",
    "systemCgroups",
    "Absolute name of the cgroup for processes that are in none but /; none where empty",
  ],
  [
    "system-reserved",
    "systemReserved",
    "Resources, such as cpu=200m,memory=500Mi,ephemeral-storage=1Gi,pid=1000, reserved for processes that are not Kubernetes'",
  ],
  [
    "system-reserved-cgroup",
    "systemReservedCgroup",
    "Absolute name of the cgroup that holds processes that are not Kubernetes', for --system-reserved",
  ],
  [
    "tls-cert-file",
    "tlsCertFile",
    "Certificate to serve HTTPS with, followed by those between it and the authority; made and kept in --cert-dir where neither this nor --tls-private-key-file is given",
  ],
  ["tls-cipher-suites", "tlsCipherSuites", "Comma-separated list of cipher suites of the server, by Go's names"],
  [
    "tls-min-version",
    "tlsMinVersion",
    "Oldest version of TLS that the server speaks: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13",
  ],
  ["tls-private-key-file", "tlsPrivateKeyFile", "Private key of --tls-cert-file"],
  [
    "topology-manager-policy",
    "topologyManagerPolicy",
    "How NUMA nodes are aligned: none, best-effort, restricted or single-numa-node",
  ],
  [
    "topology-manager-policy-options",
    "topologyManagerPolicyOptions",
    "key=value options that tune the topology manager's policy",
  ],
  ["topology-manager-scope", "topologyManagerScope", "What is aligned as one: container or pod"],
  ["v", "logging.verbosity", "Number for the log level verbosity", LEVEL_FLAG],
  [
    "vmodule",
    "logging.vmodule",
    "Comma-separated list of pattern=N settings for the verbosity of single modules (only works for text log format)",
    VMODULE_FLAG,
  ],
  ["volume-plugin-dir", "volumePluginDir", "Directory of volume plugins of third parties"],
  [
    "volume-stats-agg-period",
    "volumeStatsAggPeriod",
    "How often the disk usage of volumes is measured; never where negative",
  ],
];

/** Every flag that sets a field of the configuration, with the field's type, default and effect. */
export const CONFIGURATION_FLAGS: readonly Flag[] = ROWS.map(([name, field, help, type]) => {
  const { typeName, effect } = findField(field);
  const flagType = type ?? FIELD_FLAG_TYPES[typeName];
  if (flagType === undefined) throw new TypeError(`no flag syntax for ${field} of type ${typeName}`);
  return {
    name,
    ...(name === "v" ? { shorthand: "v" } : {}),
    type: flagType,
    help,
    initial: field === "evictionHard" ? undefined : readPath(DEFAULT_KUBELET_CONFIGURATION, field),
    ...(NOT_DEPRECATED.has(name) ? {} : { deprecated: `set ${field} in the --config file instead` }),
    field,
    effect,
  };
});

function findField(path: string): { typeName: string; effect: Effect } {
  let table: FieldTable | undefined = KUBELET_CONFIGURATION_FIELDS;
  let found: { typeName: string; effect: Effect } | undefined;
  for (const name of path.split(".")) {
    const field: FieldTable[string] | undefined = table?.[name];
    if (field === undefined) throw new TypeError(`no field ${path}`);
    found = { typeName: field.codec.typeName, effect: field.effect };
    table = field.codec.fields;
  }
  if (found === undefined) throw new TypeError(`no field ${path}`);
  return found;
}

function readPath(configuration: object, path: string): unknown {
  let current: unknown = configuration;
  for (const name of path.split(".")) {
    current = new Map(Object.entries(typeof current === "object" && current !== null ? current : {})).get(name);
  }
  return current;
}
