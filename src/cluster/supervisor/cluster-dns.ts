import { CodedError } from "../../base/errors.ts";

/** The domain of every cluster of ours; the API server's certificate names it too. */
export const CLUSTER_DOMAIN = "cluster.local";

/** The tenth address is the one that kubeadm and everybody's manifests of CoreDNS choose. */
const DNS_OFFSET = 10;
const SMALLEST_PREFIX = 28;

/** The address of the cluster's DNS: `10.96.0.0/16` gives `10.96.0.10`. Throws for a range that has no tenth address. */
export function clusterDnsAddressOf(serviceCidr: string): string {
  const [network = "", prefix = ""] = serviceCidr.split("/");
  const bits = Number(prefix);
  if (bits > SMALLEST_PREFIX) {
    throw new CodedError(
      "range-too-small",
      `--service-cidr ${serviceCidr} has no tenth address for the cluster's DNS: choose a range of /28 or larger, or --no-dns`,
    );
  }
  const number = network.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - bits);
  const address = Math.floor(number / size) * size + DNS_OFFSET;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
