import type { Pod } from "../../../api/gen/types.ts";
import { isHostNetworkPod, podReference } from "../../../api/pods.ts";
import { normaliseSysctl } from "../../../api/sysctls.ts";
import { LinuxPodSandboxConfig, PodSandboxConfig } from "../../../cri/gen/cri-v1.ts";
import { computeOverheadResources, computeSandboxResources } from "../../resources/sizes/container-size.ts";
import { computePodDns, type DnsWarning } from "../identity/dns.ts";
import { computePodHostname } from "../identity/hostname.ts";
import { podLogDirectory } from "../logs/container-log-paths.ts";
import { buildPodLabels } from "./labels.ts";
import type { UserNamespaceMapping } from "./namespaces.ts";
import type { NodeFacts } from "./node-facts.ts";
import { buildPortMappings } from "./port-mappings.ts";
import { buildSandboxSecurityContext, findGroupsError } from "./security-context.ts";

export interface PodSandboxConfigInput {
  pod: Pod;
  /** It is 0 for the pod's first sandbox. */
  attempt: number;
  node: NodeFacts;
  /** The pod's cgroup, below which the runtime makes the containers' cgroups; empty lets the runtime choose. */
  cgroupParent: string;
  /** A pod with `hostUsers: false` needs it, and only such a pod. */
  userNamespace?: UserNamespaceMapping | undefined;
  /** The groups that the pod's persistent volumes belong to. Default: none. */
  volumeGroups?: readonly bigint[] | undefined;
}

/** The error is the reason why no sandbox can be made; the warnings are for events on the pod. */
type PodSandboxConfigResult =
  | { ok: true; config: PodSandboxConfig; warnings: DnsWarning[] }
  | { ok: false; error: string };

/** Builds the config that RunPodSandbox takes and CreateContainer repeats. Follows kuberuntime_sandbox.go. */
export function buildPodSandboxConfig(input: PodSandboxConfigInput): PodSandboxConfigResult {
  const { pod, attempt, node } = input;
  const { uid, name, namespace } = podReference(pod);
  // On the host's network the pod has the host's name.
  const hostname = isHostNetworkPod(pod)
    ? { ok: true as const, kernelHostname: "" }
    : computePodHostname(pod, node.clusterDomain);
  if (!hostname.ok) return hostname;
  const error = findGroupsError(pod) ?? findUserNamespaceError(input);
  if (error !== undefined) return { ok: false, error };

  const { dns, warnings } = computePodDns(pod, node);
  const config = PodSandboxConfig.fromPartial({
    metadata: { name, namespace, uid, attempt },
    hostname: hostname.kernelHostname,
    logDirectory: podLogDirectory(node.podLogsDirectory, { uid, name, namespace }),
    dnsConfig: { servers: dns.nameservers, searches: dns.searches, options: dns.options },
    portMappings: buildPortMappings(pod),
    labels: buildPodLabels(pod),
    annotations: pod.metadata?.annotations ?? {},
    linux: buildLinuxConfig(input),
  });
  return { ok: true, config, warnings };
}

function buildLinuxConfig(input: PodSandboxConfigInput): LinuxPodSandboxConfig {
  const { pod, node, cgroupParent } = input;
  const sysctls = pod.spec?.securityContext?.sysctls ?? [];
  return LinuxPodSandboxConfig.fromPartial({
    cgroupParent,
    securityContext: buildSandboxSecurityContext(pod, input),
    sysctls: Object.fromEntries(sysctls.map(({ name, value }) => [normaliseSysctl(name), value])),
    overhead: computeOverheadResources(pod, node),
    resources: computeSandboxResources(pod, node),
  });
}

/** Running such a pod with the host's users would be the opposite of what the pod asks for. */
function findUserNamespaceError({ pod, userNamespace }: PodSandboxConfigInput): string | undefined {
  if (pod.spec?.hostUsers !== false || userNamespace !== undefined) return undefined;
  return "can't set `spec.hostUsers: false`, this node has no user namespaces to give";
}
