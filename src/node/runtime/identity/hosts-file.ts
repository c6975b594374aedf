import type { HostAlias } from "../../../api/gen/types.ts";

/** The values that a pod's own /etc/hosts is written from. */
interface ManagedHosts {
  podIps: readonly string[];
  hostname: string;
  /** Empty when the pod has none. */
  domain: string;
  hostAliases: readonly HostAlias[];
}

/** Builds the /etc/hosts of a pod with a network of its own, byte for byte as kubelet's (managedHostsFileContent). */
export function buildManagedHostsFile({ podIps, hostname, domain, hostAliases }: ManagedHosts): string {
  const names = domain === "" ? hostname : `${hostname}.${domain}\t${hostname}`;
  const lines = [
    "# Kubernetes-managed hosts file.",
    "127.0.0.1\tlocalhost",
    "::1\tlocalhost ip6-localhost ip6-loopback",
    "fe00::0\tip6-localnet",
    "fe00::0\tip6-mcastprefix",
    "fe00::1\tip6-allnodes",
    "fe00::2\tip6-allrouters",
    ...podIps.map((ip) => `${ip}\t${names}`),
  ];
  return `${lines.join("\n")}\n${aliasLines(hostAliases)}`;
}

/** Builds the /etc/hosts of a pod on the host's network: the host's own file and the pod's aliases. */
export function buildHostNetworkHostsFile(hostFile: string, hostAliases: readonly HostAlias[]): string {
  return `# Kubernetes-managed hosts file (host network).\n${hostFile}${aliasLines(hostAliases)}`;
}

function aliasLines(aliases: readonly HostAlias[]): string {
  if (aliases.length === 0) return "";
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join("")}`;
}
