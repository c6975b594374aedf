import { parseQuantity } from "../api/quantity.ts";
import { parseCpuList } from "../base/cpu-list.ts";
import { parseEvictionThresholds } from "./eviction-thresholds.ts";
import type { FeatureGates } from "./feature-gates.ts";
import type { KubeletConfiguration } from "./kubelet-configuration.ts";
import { parsePercentage } from "./percentage.ts";

/** Reports one finding; `path` is the field and the message is the rest of upstream's sentence. */
export type Report = (path: string, message: string) => void;

/** Validates the half of the configuration that concerns cgroups, reservations, swap, taints and eviction. */
export function validateNodeResources(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  validateCgroups(configuration, report);
  validateEnforcement(configuration, report);
  validatePolicies(configuration, report);
  validateMemory(configuration, gates, report);
  validateReservations(configuration, report);
  validateEviction(configuration, report);
  validateServing(configuration, gates, report);
}

function validateCgroups(configuration: KubeletConfiguration, report: Report): void {
  if (configuration.systemCgroups !== "" && configuration.cgroupRoot === "") {
    report(
      "systemCgroups",
      "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified",
    );
  }
  const { cgroupDriver } = configuration;
  if (cgroupDriver !== "cgroupfs" && cgroupDriver !== "systemd") {
    report(
      "cgroupDriver",
      `option "${cgroupDriver}" specified for cgroupDriver (--cgroup-driver). ${validOptions("cgroupfs", "systemd")}`,
    );
  }
  const idsPerPod = configuration.userNamespaces?.idsPerPod ?? 65_536;
  if (idsPerPod <= 0 || idsPerPod % 65_536 !== 0 || idsPerPod >= 2 ** 32) {
    report(
      "userNamespaces.idsPerPod",
      `userNamespaces.idsPerPod ${idsPerPod} must be a multiple of 65536 and less than 4294967296`,
    );
  }
}

const ENFORCEMENTS = [
  "pods",
  "system-reserved",
  "system-reserved-compressible",
  "kube-reserved",
  "kube-reserved-compressible",
  "none",
];

function validateEnforcement(configuration: KubeletConfiguration, report: Report): void {
  const field = "enforceNodeAllocatable";
  const named = `${field} (--enforce-node-allocatable)`;
  const chosen = configuration.enforceNodeAllocatable ?? [];
  for (const group of ["system-reserved", "kube-reserved"]) {
    const both = [group, `${group}-compressible`];
    if (both.every((option) => chosen.includes(option))) {
      report(field, `both "${both[0]}" and "${both[1]}" cannot be specified together in ${named}`);
    }
  }
  for (const [index, option] of chosen.entries()) {
    if (chosen.indexOf(option) !== index) report(field, `duplicated enforcements "${option}" in ${named}`);
    else if (!ENFORCEMENTS.includes(option)) {
      report(field, `option "${option}" specified for ${named}. ${validOptions(...ENFORCEMENTS)}`);
    } else if (option === "none") {
      if (chosen.length > 1) report(field, `${named} may not contain additional enforcements when "none" is specified`);
    } else validateEnforcedGroup(configuration, option, report);
  }
}

function validateEnforcedGroup(configuration: KubeletConfiguration, option: string, report: Report): void {
  const named = "enforceNodeAllocatable (--enforce-node-allocatable)";
  if (option.startsWith("system-reserved") && configuration.systemReservedCgroup === "") {
    report(
      "systemReservedCgroup",
      `systemReservedCgroup (--system-reserved-cgroup) must be specified when "${option}" included in ${named}`,
    );
  }
  if (option.startsWith("kube-reserved") && configuration.kubeReservedCgroup === "") {
    report(
      "kubeReservedCgroup",
      `kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "${option}" included in ${named}`,
    );
  }
  if (!configuration.cgroupsPerQOS) {
    report(
      "cgroupsPerQOS",
      `cgroupsPerQOS (--cgroups-per-qos) must be set to true when "${option}" contained in ${named}`,
    );
  }
}

function validatePolicies(configuration: KubeletConfiguration, report: Report): void {
  const choices = [
    ["topologyManagerPolicy", "--topology-manager-policy", ["none", "best-effort", "restricted", "single-numa-node"]],
    ["topologyManagerScope", "--topology-manager-scope", ["container", "pod"]],
    ["hairpinMode", "--hairpin-mode", ["none", "hairpin-veth", "promiscuous-bridge"]],
    ["cpuManagerPolicy", "--cpu-manager-policy", ["none", "static"]],
    ["memoryManagerPolicy", "--memory-manager-policy", ["None", "Static"]],
  ] satisfies ReadonlyArray<readonly [keyof KubeletConfiguration, string, string[]]>;
  for (const [field, flag, options] of choices) {
    const chosen = configuration[field];
    if (!options.includes(chosen))
      report(field, `option "${chosen}" specified for ${field} (${flag}). ${validOptions(...options)}`);
  }
  const strategy = configuration.configMapAndSecretChangeDetectionStrategy;
  if (!["Get", "Cache", "Watch"].includes(strategy)) {
    const field = "configMapAndSecretChangeDetectionStrategy";
    report(field, `option "${strategy}" specified for ${field}. ${validOptions("Get", "Cache", "Watch")}`);
  }
}

function validateMemory(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  const { swapBehavior } = configuration.memorySwap;
  if (!gates.NodeSwap && swapBehavior !== "") {
    report("memorySwap.swapBehavior", "memorySwap.swapBehavior cannot be set when NodeSwap feature flag is disabled");
  } else if (!["", "NoSwap", "LimitedSwap"].includes(swapBehavior)) {
    report(
      "memorySwap.swapBehavior",
      `memorySwap.swapBehavior "${swapBehavior}" must be one of: "", "LimitedSwap" or "NoSwap"`,
    );
  }
  const { memoryThrottlingFactor: factor, memoryReservationPolicy: policy } = configuration;
  if (!(factor > 0 && factor <= 1)) {
    report(
      "memoryThrottlingFactor",
      `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`,
    );
  }
  if (policy !== "None" && policy !== "TieredReservation") {
    report(
      "memoryReservationPolicy",
      `option "${policy}" specified for memoryReservationPolicy. ${validOptions("None", "TieredReservation")}`,
    );
  } else if (policy === "TieredReservation" && !gates.MemoryQoS) {
    report(
      "memoryReservationPolicy",
      `memoryReservationPolicy "${policy}" requires MemoryQoS feature gate to be enabled`,
    );
  }
  validateReservedMemory(configuration, report);
  validateQosReserved(configuration, report);
}

/** The words are upstream's (`ParseQOSReserved` of cm/container_manager.go). */
function validateQosReserved({ qosReserved }: KubeletConfiguration, report: Report): void {
  for (const [resource, text] of Object.entries(qosReserved ?? {})) {
    const path = `qosReserved[${resource}]`;
    if (resource !== "memory") report(path, `cannot reserve "${resource}" resource in qosReserved, use memory`);
    else if (parsePercentage(text) === undefined) {
      report(path, `failed to parse percentage "${text}" for "${resource}" resource: give 0% to 100%, as memory: 50%`);
    }
  }
}

function validateReservedMemory(configuration: KubeletConfiguration, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { numaNode, limits }] of (configuration.reservedMemory ?? []).entries()) {
    for (const [type, quantity] of Object.entries(limits ?? {})) {
      const path = `reservedMemory[${index}].limits[${type}]`;
      const isMemory = type === "memory" || type.startsWith("hugepages-");
      if (!isMemory)
        report(
          path,
          `the limit type "${type}" for NUMA node ${numaNode} is invalid, only memory and hugepages-* limits are supported`,
        );
      else if (parseQuantity(quantity) === undefined) report(path, unparsable(path, quantity));
      else if (parseQuantity(quantity)?.nanos === 0n) {
        report(path, `reserved memory may not be zero for NUMA node ${numaNode} and resource "${type}"`);
      }
      const place = `NUMA node ${numaNode} and resource "${type}"`;
      if (seen.has(place)) report(path, `the reserved memory has a duplicate value for ${place}`);
      seen.add(place);
    }
  }
}

function validateReservations(configuration: KubeletConfiguration, report: Report): void {
  for (const field of ["systemReserved", "kubeReserved"] as const) {
    for (const [resource, quantity] of Object.entries(configuration[field] ?? {})) {
      const path = `${field}[${resource}]`;
      if (!["cpu", "memory", "ephemeral-storage", "pid"].includes(resource)) {
        report(path, `cannot reserve "${resource}" resource, use cpu, memory, ephemeral-storage or pid`);
      } else if (parseQuantity(quantity) === undefined) report(path, unparsable(path, quantity));
      else if (quantity.startsWith("-")) {
        report(path, `resource quantity for "${resource}" cannot be negative: ${quantity}`);
      }
    }
  }
  const { reservedSystemCPUs: cpus, systemReservedCgroup, kubeReservedCgroup, containerLogMaxSize } = configuration;
  if (cpus !== "" && (systemReservedCgroup !== "" || kubeReservedCgroup !== "")) {
    report(
      "reservedSystemCPUs",
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    );
  }
  if (cpus !== "" && parseCpuList(cpus) === undefined) {
    report(
      "reservedSystemCPUs",
      `unable to parse reservedSystemCPUs (--reserved-cpus) ${cpus}, expected a list like 0-3,8`,
    );
  }
  if (parseQuantity(containerLogMaxSize) === undefined) {
    report("containerLogMaxSize", unparsable("containerLogMaxSize (--container-log-max-size)", containerLogMaxSize));
  }
}

function validateEviction(configuration: KubeletConfiguration, report: Report): void {
  for (const { path, message } of parseEvictionThresholds(configuration).problems) report(path, message);
}

function validateServing(configuration: KubeletConfiguration, gates: FeatureGates, report: Report): void {
  if (configuration.serverTLSBootstrap && !gates.RotateKubeletServerCertificate) {
    report("serverTLSBootstrap", "serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate");
  }
  if (configuration.enableSystemLogQuery && !gates.NodeLogQuery) {
    report("enableSystemLogQuery", "NodeLogQuery feature gate is required for enableSystemLogQuery");
  }
  if (configuration.enableSystemLogQuery && !configuration.enableSystemLogHandler) {
    report("enableSystemLogQuery", "enableSystemLogHandler is required for enableSystemLogQuery");
  }
  const { mode } = configuration.authorization;
  if (mode !== "AlwaysAllow" && mode !== "Webhook") {
    report(
      "authorization.mode",
      `authorization.mode (--authorization-mode) "${mode}" must be "AlwaysAllow" or "Webhook"`,
    );
  }
  for (const [index, taint] of (configuration.registerWithTaints ?? []).entries()) {
    const path = `registerWithTaints[${index}]`;
    const hasEffect = ["NoSchedule", "PreferNoSchedule", "NoExecute"].includes(taint.effect);
    if (taint.key === "" || !hasEffect) report(path, `invalid taint: ${taint.key}=${taint.value}:${taint.effect}`);
    if (taint.timeAdded !== undefined) report(path, "taint.TimeAdded is not nil");
  }
}

/** Returns `Valid options are "a", "b" or "c"`, with which upstream ends its refusals. */
export function validOptions(...options: string[]): string {
  const quoted = options.map((option) => `"${option}"`);
  return `Valid options are ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function unparsable(path: string, quantity: string): string {
  return `${path} "${quantity}" must be a quantity like 100Mi`;
}
