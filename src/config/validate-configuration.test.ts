import { expect, it } from "vitest";
import { composeConfiguration } from "./compose-configuration.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

function validate(yaml: string) {
  return composeConfiguration({ file: { path: "/k.yaml", text: `${HEAD}${yaml}` }, dropIns: [], flags: new Map() })
    .errors;
}

it.each([
  ["maxPods: -1", "maxPods", "maxPods (--max-pods) -1 must not be a negative number"],
  ["oomScoreAdj: 1001", "oomScoreAdj", "oomScoreAdj (--oom-score-adj) 1001 must be between -1000 and 1000, inclusive"],
  ["nodeLeaseDurationSeconds: -1", "nodeLeaseDurationSeconds", "nodeLeaseDurationSeconds must be greater than 0"],
  [
    "nodeStatusMaxImages: -2",
    "nodeStatusMaxImages",
    "nodeStatusMaxImages (--node-status-max-images) -2 must be -1 or greater",
  ],
  ["runOnce: true", "runOnce", "runOnce (--runonce) true, Runonce mode has been deprecated and should not be set"],
  ["port: 70000", "port", "port (--port) 70000 must be between 1 and 65535, inclusive"],
  ["readOnlyPort: -1", "readOnlyPort", "readOnlyPort (--read-only-port) -1 must be between 0 and 65535, inclusive"],
  ["healthzPort: 65536", "healthzPort", "healthzPort (--healthz-port) 65536 must be between 1 and 65535, inclusive"],
  ["imageMaximumGCAge: 1m", "imageMaximumGCAge", "imageMaximumGCAge 1m0s must be greater than imageMinimumGCAge 2m0s"],
  ["imageMinimumGCAge: -1m", "imageMinimumGCAge", "imageMinimumGCAge -1m0s must not be negative"],
  ["maxParallelImagePulls: 0", "maxParallelImagePulls", "maxParallelImagePulls 0 must be a positive number"],
  [
    "maxParallelImagePulls: 3\nserializeImagePulls: true",
    "maxParallelImagePulls",
    "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false",
  ],
  [
    "imagePullCredentialsVerificationPolicy: Sometimes",
    "imagePullCredentialsVerificationPolicy",
    'option "Sometimes" specified for imagePullCredentialsVerificationPolicy. Valid options are "NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages" or "AlwaysVerify"',
  ],
  [
    "shutdownGracePeriodCriticalPods: 10s",
    "shutdownGracePeriodCriticalPods",
    "shutdownGracePeriodCriticalPods 10s must be <= shutdownGracePeriod 0s",
  ],
  [
    "shutdownGracePeriod: 10ms",
    "shutdownGracePeriod",
    "shutdownGracePeriod 10ms must be either zero or otherwise >= 1 sec",
  ],
  [
    "shutdownGracePeriod: 1s\nshutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 1}]",
    "shutdownGracePeriodByPodPriority",
    "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time",
  ],
  ["containerLogMaxWorkers: 0", "containerLogMaxWorkers", "containerLogMaxWorkers must be greater than or equal to 1"],
  ["containerLogMaxFiles: 1", "containerLogMaxFiles", "containerLogMaxFiles must be greater than 1"],
  [
    "containerLogMonitorInterval: 1s",
    "containerLogMonitorInterval",
    "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s",
  ],
  ["podLogsDir: /var/../x", "podLogsDir", 'pod logs path "/var/../x" must be normalized'],
  ["podLogsDir: /var/l\u00f6g", "podLogsDir", 'pod logs path "/var/l\u00f6g" must contain ASCII characters only'],
  [
    "containerRuntimeEndpoint: tcp://localhost:1",
    "containerRuntimeEndpoint",
    'containerRuntimeEndpoint (--container-runtime-endpoint) "tcp://localhost:1" must be the URL of a unix socket with an absolute path, like unix:///run/containerd/containerd.sock',
  ],
  [
    "cpuCFSQuotaPeriod: 50ms\nfeatureGates: {CustomCPUCFSQuotaPeriod: false}",
    "cpuCFSQuotaPeriod",
    "cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 50ms requires feature gate CustomCPUCFSQuotaPeriod",
  ],
  [
    "cpuCFSQuotaPeriod: 2s",
    "cpuCFSQuotaPeriod",
    "cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 2s must be between 1ms and 1sec, inclusive",
  ],
  [
    "crashLoopBackOff: {maxContainerRestartPeriod: 10m}",
    "crashLoopBackOff.maxContainerRestartPeriod",
    "CrashLoopBackOff.MaxContainerRestartPeriod (got: 600 seconds) must be set between 1s and 300s",
  ],
  [
    "logging: {format: xml}",
    "logging.format",
    'logging.format (--logging-format): Invalid value: "xml": Unsupported log format, use "text" or "json"',
  ],
  [
    "systemCgroups: /s",
    "systemCgroups",
    "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified",
  ],
  [
    "cgroupDriver: x",
    "cgroupDriver",
    'option "x" specified for cgroupDriver (--cgroup-driver). Valid options are "cgroupfs" or "systemd"',
  ],
  [
    "userNamespaces: {idsPerPod: 5}",
    "userNamespaces.idsPerPod",
    "userNamespaces.idsPerPod 5 must be a multiple of 65536 and less than 4294967296",
  ],
  [
    "enforceNodeAllocatable: [pods, pods]",
    "enforceNodeAllocatable",
    'duplicated enforcements "pods" in enforceNodeAllocatable (--enforce-node-allocatable)',
  ],
  [
    "enforceNodeAllocatable: [none, pods]",
    "enforceNodeAllocatable",
    'enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
  ],
  [
    "enforceNodeAllocatable: [kube-reserved]",
    "kubeReservedCgroup",
    'kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" included in enforceNodeAllocatable (--enforce-node-allocatable)',
  ],
  [
    "cgroupsPerQOS: false",
    "cgroupsPerQOS",
    'cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable)',
  ],
  [
    "topologyManagerScope: node",
    "topologyManagerScope",
    'option "node" specified for topologyManagerScope (--topology-manager-scope). Valid options are "container" or "pod"',
  ],
  [
    "memorySwap: {swapBehavior: Much}",
    "memorySwap.swapBehavior",
    'memorySwap.swapBehavior "Much" must be one of: "", "LimitedSwap" or "NoSwap"',
  ],
  [
    "memoryThrottlingFactor: 1.5",
    "memoryThrottlingFactor",
    "memoryThrottlingFactor 1.5 must be greater than 0 and less than or equal to 1.0",
  ],
  ["qosReserved: {cpu: 50%}", "qosReserved[cpu]", 'cannot reserve "cpu" resource in qosReserved, use memory'],
  [
    "memoryReservationPolicy: TieredReservation",
    "memoryReservationPolicy",
    'memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
  ],
  [
    "reservedMemory: [{numaNode: 1, limits: {cpu: 1}}]",
    "reservedMemory[0].limits[cpu]",
    'the limit type "cpu" for NUMA node 1 is invalid, only memory and hugepages-* limits are supported',
  ],
  [
    "reservedMemory: [{numaNode: 1, limits: {memory: 0}}]",
    "reservedMemory[0].limits[memory]",
    'reserved memory may not be zero for NUMA node 1 and resource "memory"',
  ],
  [
    "reservedMemory: [{numaNode: 1, limits: {memory: 1Gi}}, {numaNode: 1, limits: {memory: 2Gi}}]",
    "reservedMemory[1].limits[memory]",
    'the reserved memory has a duplicate value for NUMA node 1 and resource "memory"',
  ],
  [
    "systemReserved: {gpu: '1'}",
    "systemReserved[gpu]",
    'cannot reserve "gpu" resource, use cpu, memory, ephemeral-storage or pid',
  ],
  ["kubeReserved: {cpu: one}", "kubeReserved[cpu]", 'kubeReserved[cpu] "one" must be a quantity like 100Mi'],
  [
    "reservedSystemCPUs: a-b",
    "reservedSystemCPUs",
    "unable to parse reservedSystemCPUs (--reserved-cpus) a-b, expected a list like 0-3,8",
  ],
  [
    "containerLogMaxSize: big",
    "containerLogMaxSize",
    'containerLogMaxSize (--container-log-max-size) "big" must be a quantity like 100Mi',
  ],
  [
    "evictionHard: {memory.available: 200%}",
    "evictionHard[memory.available]",
    "eviction percentage threshold memory.available must be <= 100%: 200%",
  ],
  [
    "evictionSoft: {memory.available: 1Gi}",
    "evictionSoft[memory.available]",
    "grace period must be specified for the soft eviction threshold memory.available (evictionSoftGracePeriod)",
  ],
  [
    "authorization: {mode: Never}",
    "authorization.mode",
    'authorization.mode (--authorization-mode) "Never" must be "AlwaysAllow" or "Webhook"',
  ],
  [
    "enableSystemLogQuery: true\nenableSystemLogHandler: false",
    "enableSystemLogQuery",
    "enableSystemLogHandler is required for enableSystemLogQuery",
  ],
  ["registerWithTaints: [{key: a, effect: Always}]", "registerWithTaints[0]", "invalid taint: a=:Always"],
  [
    "tracing: {samplingRatePerMillion: -1}",
    "tracing.samplingRatePerMillion",
    "tracing.samplingRatePerMillion: Invalid value: -1: sampling rate must be positive",
  ],
  [
    "tracing: {samplingRatePerMillion: 1000001}",
    "tracing.samplingRatePerMillion",
    "tracing.samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million",
  ],
  [
    "tracing: {endpoint: http://collector:4317}",
    "tracing.endpoint",
    'tracing.endpoint: Invalid value: "http://collector:4317": unsupported scheme: http. Write host:port, dns:///host:port or unix:///path',
  ],
  [
    "tracing: {endpoint: unix-abstract:///otel}",
    "tracing.endpoint",
    'tracing.endpoint: Invalid value: "unix-abstract:///otel": unsupported scheme: unix-abstract. Write host:port, dns:///host:port or unix:///path',
  ],
  [
    "tracing: {endpoint: 'collector:'}",
    "tracing.endpoint",
    'tracing.endpoint: Invalid value: "collector:": it names no port. Write host:port, dns:///host:port or unix:///path',
  ],
])("refuses %s", (yaml, path, message) => {
  expect(validate(yaml)).toContainEqual({ path, message: `invalid configuration: ${message}` });
});

it.each([
  "containerRuntimeEndpoint: /run/x.sock",
  "containerRuntimeEndpoint: unix:/run/x.sock",
  "systemReserved: {cpu: 500m, memory: 1Gi, pid: '100'}",
  "evictionSoft: {memory.available: 10%}\nevictionSoftGracePeriod: {memory.available: 1m}",
  "enforceNodeAllocatable: [none]\ncgroupsPerQOS: false",
  "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s",
  "logging: {format: json, vmodule: [{filePattern: pleg, verbosity: 5}]}",
  "tracing: {}",
  "tracing: {endpoint: collector:4317, samplingRatePerMillion: 1000000}",
  "tracing: {endpoint: '[::1]:4317', samplingRatePerMillion: 0}",
  "tracing: {endpoint: dns:///collector:4317}",
  "tracing: {endpoint: unix:///run/otel.sock}",
])("accepts %s", (yaml) => expect(validate(yaml)).toEqual([]));

it.each(["50", "-1%", "101%", "5.5%", "%", "x%"])("refuses %j as a share that is kept back", (text) => {
  const message = `failed to parse percentage "${text}" for "memory" resource: give 0% to 100%, as memory: 50%`;
  const error = { path: "qosReserved[memory]", message: `invalid configuration: ${message}` };
  expect(validate(`qosReserved: {memory: "${text}"}`)).toEqual([error]);
});
