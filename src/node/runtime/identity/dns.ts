import type { Pod, PodDNSConfig } from "../../../api/gen/types.ts";
import { isHostNetworkPod, podReference } from "../../../api/pods.ts";
import { mergeResolverOptions, type ResolvConf } from "./resolv-conf.ts";

/** The facts of the node that a pod's resolver settings follow from. */
export interface NodeDns {
  /** Addresses of the cluster's DNS service; empty when there is none. */
  clusterDns: readonly string[];
  /** The default is `cluster.local`; empty when there is none. */
  clusterDomain: string;
  /** The host's resolver configuration; undefined when the node was told to use none (`resolvConf: ""`). */
  hostResolvConf: ResolvConf | undefined;
  /** The node's addresses, primary first. */
  hostIps: readonly string[];
}

interface PodDns {
  dns: ResolvConf;
  /** For Warning events on the pod. */
  warnings: DnsWarning[];
}

/** Something in which the pod's DNS differs from what the pod asked for; it becomes an event. */
export interface DnsWarning {
  reason: "MissingClusterDNS" | "DNSConfigForming";
  message: string;
}

const CLUSTER_OPTIONS = ["ndots:5"];
/**
 * The limits of resolvers: some would ignore more, and others would crash. Kubernetes validates `dnsConfig` to the same
 * limits.
 */
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LIST_LENGTH = 2048;
const MAX_SEARCH_LENGTH = 253;

/**
 * Computes the settings by `dnsPolicy`, then adds `dnsConfig`, then cuts them to what resolvers take. Follows
 * pkg/kubelet/network/dns/dns.go.
 */
export function computePodDns(pod: Pod, node: NodeDns): PodDns {
  const warnings: DnsWarning[] = [];
  let policy = effectivePolicy(pod);
  if (policy === "cluster" && node.clusterDns.length === 0) {
    warnings.push(missingClusterDns(pod));
    policy = "host";
  }
  const base = baseDns(policy, pod, node);
  const dns = pod.spec?.dnsConfig ? addDnsConfig(base, pod.spec.dnsConfig) : base;
  return { dns: fitLimits(dns, warnings), warnings };
}

/** A pod on the host's network uses the cluster's DNS only where it names that policy (`ClusterFirstWithHostNet`). */
function effectivePolicy(pod: Pod): "none" | "cluster" | "host" {
  switch (pod.spec?.dnsPolicy) {
    case "None":
      return "none";
    case "Default":
      return "host";
    case "ClusterFirstWithHostNet":
      return "cluster";
    default:
      return isHostNetworkPod(pod) ? "host" : "cluster";
  }
}

function baseDns(policy: "none" | "cluster" | "host", pod: Pod, node: NodeDns): ResolvConf {
  if (policy === "none") return { nameservers: [], searches: [], options: [] };
  const host = node.hostResolvConf;
  if (policy === "cluster") {
    const searches = [...clusterSearches(pod, node.clusterDomain), ...(host?.searches ?? [])];
    return { nameservers: [...node.clusterDns], searches: unique(searches), options: CLUSTER_OPTIONS };
  }
  return host ?? localDns(node.hostIps);
}

function clusterSearches(pod: Pod, clusterDomain: string): string[] {
  if (clusterDomain === "") return [];
  return [`${podReference(pod).namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
}

/**
 * Most resolvers ask the machine itself when they have no configuration. This writes it out for those that would not.
 */
function localDns(hostIps: readonly string[]): ResolvConf {
  const loopbacks = hostIps.map((ip) => (ip.includes(":") ? "::1" : "127.0.0.1"));
  return { nameservers: loopbacks.length > 0 ? loopbacks : ["127.0.0.1"], searches: ["."], options: [] };
}

function addDnsConfig(base: ResolvConf, config: PodDNSConfig): ResolvConf {
  const options = (config.options ?? []).map(({ name = "", value }) => (value ? `${name}:${value}` : name));
  return {
    nameservers: unique([...base.nameservers, ...(config.nameservers ?? [])]),
    searches: unique([...base.searches, ...(config.searches ?? [])]),
    options: mergeResolverOptions(base.options, options),
  };
}

function fitLimits(dns: ResolvConf, warnings: DnsWarning[]): ResolvConf {
  const nameservers = dns.nameservers.slice(0, MAX_NAMESERVERS);
  if (nameservers.length < dns.nameservers.length) {
    const applied = nameservers.join(" ");
    warnings.push(
      forming(
        `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${applied}`,
      ),
    );
  }
  const searches = fitSearches(dns.searches);
  if (searches.length < dns.searches.length) {
    const applied = searches.join(" ");
    warnings.push(
      forming(
        `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${applied}`,
      ),
    );
  }
  return { nameservers, searches, options: [...dns.options] };
}

function fitSearches(searches: readonly string[]): string[] {
  const fitting = searches.slice(0, MAX_SEARCHES).filter((search) => search.length <= MAX_SEARCH_LENGTH);
  while (fitting.join(" ").length > MAX_SEARCH_LIST_LENGTH) fitting.pop();
  return fitting;
}

function forming(message: string): DnsWarning {
  return { reason: "DNSConfigForming", message };
}

function missingClusterDns(pod: Pod): DnsWarning {
  const { name, namespace, uid } = podReference(pod);
  return {
    reason: "MissingClusterDNS",
    message:
      `pod: "${name}_${namespace}(${uid})". kubelet does not have ClusterDNS IP configured and cannot create Pod using ` +
      '"ClusterFirst" policy. Falling back to "Default" policy.',
  };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
