import { splitServiceRanges } from "../../api/service-addresses.ts";
import { addressAt } from "../../api/validation/ip-address.ts";
import { CodedError } from "../../base/errors.ts";

/** The domain of every cluster of ours; the API server's certificate names it too. */
export const CLUSTER_DOMAIN = "cluster.local";

/** The tenth address is the one that kubeadm and everybody's manifests of CoreDNS choose. */
const DNS_OFFSET = 10n;

/**
 * The address of the cluster's DNS, of the first range: `10.96.0.0/16,fd00::/112` gives `10.96.0.10`. Undefined for a
 * range that has no tenth address.
 */
export function findClusterDnsAddress(serviceCidr: string): string | undefined {
  const [first = ""] = splitServiceRanges(serviceCidr);
  return addressAt(first, DNS_OFFSET);
}

/** The same, where the DNS server is ours and needs one. Throws for a range that has no tenth address. */
export function clusterDnsAddressOf(serviceCidr: string): string {
  const [first = ""] = splitServiceRanges(serviceCidr);
  const address = findClusterDnsAddress(serviceCidr);
  if (address !== undefined) return address;
  throw new CodedError(
    "range-too-small",
    `--service-cidr ${first} has no tenth address for the cluster's DNS: choose a range of /28 or larger, or --no-dns`,
  );
}
