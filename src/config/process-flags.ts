import type { Effect } from "./codec.ts";
import {
  BOOL_FLAG,
  DURATION_FLAG,
  type Flag,
  type FlagType,
  INT_FLAG,
  INT32_FLAG,
  MAP_FLAG,
  STRING_FLAG,
  VERSION_FLAG,
} from "./flag-types.ts";

/** A week. */
export const DEFAULT_HISTORY_AGE_MS = 7 * 24 * 60 * 60_000;
export const DEFAULT_HISTORY_BYTES = 64 * 1024 * 1024;

type Row = readonly [name: string, type: FlagType, initial: unknown, effect: Effect, help: string, deprecated?: string];

const GARBAGE = "use --eviction-hard or --eviction-soft instead; it will be removed in a future version";

/** The flags that are no fields of the configuration file, because they concern this process and this machine. */
const ROWS: readonly Row[] = [
  [
    "bootstrap-kubeconfig",
    STRING_FLAG,
    "",
    "works",
    "kubeconfig file to get a client certificate with when the file of --kubeconfig does not exist",
  ],
  [
    "cert-dir",
    STRING_FLAG,
    "/var/lib/kubelet/pki",
    "works",
    "Directory of TLS certificates; not used where --tls-cert-file and --tls-private-key-file are given",
  ],
  [
    "cloud-provider",
    STRING_FLAG,
    "",
    "works",
    "Who provides the machine: empty for nobody, external for a cloud provider that runs elsewhere",
  ],
  [
    "config",
    STRING_FLAG,
    "",
    "works",
    "File to read the configuration (KubeletConfiguration) from. Flags go before what it says; what neither says is the default",
  ],
  [
    "config-dir",
    STRING_FLAG,
    "",
    "works",
    "Directory of drop-ins: files whose names end in .conf, merged over the file of --config in the order of their names",
  ],
  ["exit-on-lock-contention", BOOL_FLAG, false, "works", "Exit when another process wants the lock file"],
  ["hostname-override", STRING_FLAG, "", "works", "Name of the node; the machine's host name where empty"],
  ["image-credential-provider-bin-dir", STRING_FLAG, "", "works", "Directory of credential provider plugins"],
  [
    "image-credential-provider-config",
    STRING_FLAG,
    "",
    "works",
    "Configuration of credential provider plugins: a file, or a directory of files that are merged in the order of their names",
  ],
  [
    "kubeconfig",
    STRING_FLAG,
    "",
    "works",
    "kubeconfig file that tells how to reach the API server; standalone mode where empty",
  ],
  ["lock-file", STRING_FLAG, "", "works", "File to lock while running"],
  [
    "node-ip",
    STRING_FLAG,
    "",
    "works",
    "IP address of the node, or one of each family separated by a comma; the machine's default address where empty, and :: or 0.0.0.0 to prefer one family",
  ],
  [
    "node-labels",
    MAP_FLAG,
    undefined,
    "works",
    "Labels to register the node with, as key=value pairs separated by commas. Those of kubernetes.io must begin with kubelet.kubernetes.io or node.kubernetes.io, or be well known",
  ],
  [
    "nodelet-fallback-node-ip",
    STRING_FLAG,
    "",
    "works",
    "IP address to tell as the node's while the machine has no default route and --node-ip names none; none where empty",
  ],
  [
    "nodelet-history-age",
    DURATION_FLAG,
    DEFAULT_HISTORY_AGE_MS,
    "works",
    "How long to keep the decisions about a pod that is gone, for nodelet explain",
  ],
  [
    "nodelet-history-size",
    INT_FLAG,
    DEFAULT_HISTORY_BYTES,
    "works",
    "Bytes that the decisions about pods may take on the disk, beneath --root-dir; 0 to keep none. The oldest go first",
  ],
  [
    "nodelet-ignore-other-kinds",
    BOOL_FLAG,
    false,
    "works",
    "Take the pods of the manifests and leave objects of other kinds in them to nodelet up; errors without this flag",
  ],
  [
    "nodelet-keep-kernel-tunables",
    BOOL_FLAG,
    false,
    "works",
    "Leave the kernel's tunables as they are, as nodelet up does; without this flag they are set as a node needs them",
  ],
  [
    "nodelet-kept-images",
    STRING_FLAG,
    "",
    "works",
    "Directory that names the images which stay also where the disk is short of space, as nodelet images load writes it; none where empty",
  ],
  [
    "nodelet-own-cgroup-root",
    BOOL_FLAG,
    false,
    "works",
    "Nobody else uses --cgroup-root: protect its memory as that of the pods in it, which the kernel protects no further than what holds them",
  ],
  [
    "nodelet-refuse-foreign-manifests",
    BOOL_FLAG,
    false,
    "works",
    "Take no static pods from a file or directory that does not belong to root or that others may write to; a warning without this flag",
  ],
  [
    "nodelet-server-clients",
    STRING_FLAG,
    "",
    "works",
    "Ranges of addresses, separated by commas, from which the node's API takes connections, beside this machine's own, as nodelet up does with those of pods; any address where empty",
  ],
  [
    "nodelet-socket",
    STRING_FLAG,
    "",
    "works",
    "Unix socket to answer nodelet status on, for its owner only; none where empty",
  ],
  ["root-dir", STRING_FLAG, "/var/lib/kubelet", "works", "Directory of this node agent's files, such as volumes"],
  ["runtime-cgroups", STRING_FLAG, "", "works", "Absolute name of the cgroup that the runtime runs in"],
  ["version", VERSION_FLAG, "false", "works", "Print the version and exit; --version=raw prints all that is known"],

  // The following flags were deprecated upstream in some version from 1.25 to 1.36, or removed in it.
  [
    "azure-container-registry-config",
    STRING_FLAG,
    "",
    "ignored",
    "Configuration of the Azure container registry",
    "use --image-credential-provider-config instead",
  ],
  [
    "cloud-config",
    STRING_FLAG,
    "",
    "ignored",
    "Configuration of the cloud provider",
    "cloud providers run outside of kubelet",
  ],
  [
    "container-runtime",
    STRING_FLAG,
    "remote",
    "ignored",
    "The container runtime: remote",
    "remote is the only one, use --container-runtime-endpoint",
  ],
  [
    "experimental-allocatable-ignore-eviction",
    BOOL_FLAG,
    false,
    "works",
    "Let pods use what hard eviction thresholds hold back",
    "it will be removed",
  ],
  ["experimental-mounter-path", STRING_FLAG, "", "ignored", "Program that mounts volumes", "use CSI instead"],
  [
    "keep-terminated-pod-volumes",
    BOOL_FLAG,
    false,
    "ignored",
    "Keep the volumes of pods that ended",
    "it will be removed",
  ],
  [
    "master-service-namespace",
    STRING_FLAG,
    "default",
    "ignored",
    "Namespace of the services that pods see in their environment",
    "it will be removed",
  ],
  [
    "maximum-dead-containers",
    INT32_FLAG,
    -1,
    "ignored",
    "How many ended containers to keep in all; any number where negative",
    GARBAGE,
  ],
  [
    "maximum-dead-containers-per-container",
    INT32_FLAG,
    1,
    "ignored",
    "How many ended containers to keep for each container",
    GARBAGE,
  ],
  [
    "minimum-container-ttl-duration",
    DURATION_FLAG,
    0,
    "ignored",
    "How long an ended container is kept at least",
    GARBAGE,
  ],
  [
    "pod-infra-container-image",
    STRING_FLAG,
    "",
    "ignored",
    "Image of the pod sandbox, which is never removed",
    "the runtime has its own setting for it, and tells it",
  ],
  [
    "register-schedulable",
    BOOL_FLAG,
    true,
    "works",
    "Register the node as one that pods may be scheduled to",
    "use --register-with-taints instead",
  ],
];

const LOG_FILES = "Kubernetes removed it in 1.26; redirect stderr instead";

/** The flags that klog once added to every Kubernetes program. */
const LOG_ROWS: readonly Row[] = [
  ["add-dir-header", BOOL_FLAG, false, "ignored", "Put the directory of the source file into each log line", LOG_FILES],
  ["alsologtostderr", BOOL_FLAG, false, "ignored", "Log to stderr as well as to files", LOG_FILES],
  ["log-backtrace-at", STRING_FLAG, ":0", "ignored", "Log a stack trace at file:N", LOG_FILES],
  ["log-dir", STRING_FLAG, "", "ignored", "Directory of log files", LOG_FILES],
  ["log-file", STRING_FLAG, "", "ignored", "Log file", LOG_FILES],
  ["log-file-max-size", INT_FLAG, 1_800, "ignored", "Size of a log file in megabytes", LOG_FILES],
  ["logtostderr", BOOL_FLAG, true, "ignored", "Log to stderr rather than to files", LOG_FILES],
  ["one-output", BOOL_FLAG, false, "ignored", "Write each log line to the file of its own severity only", LOG_FILES],
  ["skip-headers", BOOL_FLAG, false, "ignored", "Leave headers out of log lines", LOG_FILES],
  ["skip-log-headers", BOOL_FLAG, false, "ignored", "Leave headers out of log files", LOG_FILES],
  ["stderrthreshold", INT_FLAG, 2, "ignored", "Log what is at least this severe to stderr", LOG_FILES],
];

const CADVISOR = "it is a flag of cAdvisor, which is not part of this program";

/** The flags that cAdvisor added by accident, and that kubelet has kept since. */
const CADVISOR_ROWS: readonly Row[] = [
  ["application-metrics-count-limit", INT_FLAG, 100, "ignored", "How many metrics to keep of each container", CADVISOR],
  ["boot-id-file", STRING_FLAG, "/proc/sys/kernel/random/boot_id", "ignored", "Files that tell the boot id", CADVISOR],
  [
    "container-hints",
    STRING_FLAG,
    "/etc/cadvisor/container_hints.json",
    "ignored",
    "File of container hints",
    CADVISOR,
  ],
  ["containerd", STRING_FLAG, "/run/containerd/containerd.sock", "ignored", "Endpoint of containerd", CADVISOR],
  ["containerd-namespace", STRING_FLAG, "k8s.io", "ignored", "Namespace of containerd", CADVISOR],
  ["enable-load-reader", BOOL_FLAG, false, "ignored", "Read the load of CPUs", CADVISOR],
  ["event-storage-age-limit", STRING_FLAG, "default=0", "ignored", "How long to keep events of each type", CADVISOR],
  ["event-storage-event-limit", STRING_FLAG, "default=0", "ignored", "How many events to keep of each type", CADVISOR],
  [
    "global-housekeeping-interval",
    DURATION_FLAG,
    60_000,
    "ignored",
    "How often to do the housekeeping of all",
    CADVISOR,
  ],
  ["housekeeping-interval", DURATION_FLAG, 10_000, "ignored", "How often to do the housekeeping of containers"],
  ["log-cadvisor-usage", BOOL_FLAG, false, "ignored", "Log what cAdvisor itself uses", CADVISOR],
  [
    "machine-id-file",
    STRING_FLAG,
    "/etc/machine-id,/var/lib/dbus/machine-id",
    "ignored",
    "Files that tell the machine id",
    CADVISOR,
  ],
  [
    "storage-driver-buffer-duration",
    DURATION_FLAG,
    60_000,
    "ignored",
    "How long writes to the storage are buffered",
    CADVISOR,
  ],
  ["storage-driver-db", STRING_FLAG, "cadvisor", "ignored", "Name of the database", CADVISOR],
  ["storage-driver-host", STRING_FLAG, "localhost:8086", "ignored", "Host and port of the database", CADVISOR],
  ["storage-driver-password", STRING_FLAG, "root", "ignored", "Password for the database", CADVISOR],
  ["storage-driver-secure", BOOL_FLAG, false, "ignored", "Talk to the database over TLS", CADVISOR],
  ["storage-driver-table", STRING_FLAG, "stats", "ignored", "Name of the table", CADVISOR],
  ["storage-driver-user", STRING_FLAG, "root", "ignored", "User of the database", CADVISOR],
];

export const PROCESS_FLAGS: readonly Flag[] = [...ROWS, ...LOG_ROWS, ...CADVISOR_ROWS].map(
  ([name, type, initial, effect, help, deprecated]) => ({
    name,
    type,
    help,
    initial,
    ...(deprecated === undefined ? {} : { deprecated }),
    effect,
  }),
);
