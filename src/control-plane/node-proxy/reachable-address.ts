import { BlockList, isIP } from "node:net";

const REFUSED = new BlockList();
REFUSED.addSubnet("0.0.0.0", 8);
REFUSED.addAddress("255.255.255.255");
REFUSED.addSubnet("127.0.0.0", 8);
REFUSED.addSubnet("169.254.0.0", 16);
REFUSED.addSubnet("224.0.0.0", 4);
// These are "::", "::1", and IPv4 addresses in a form that nobody uses any more.
REFUSED.addSubnet("::", 96, "ipv6");
REFUSED.addSubnet("fe80::", 10, "ipv6");
REFUSED.addSubnet("ff00::", 8, "ipv6");

/**
 * True for an address to which a proxied request may go: none of the API server's own machine, of its link, or of many
 * hosts. A user who writes a pod's or node's status could otherwise reach servers that only the API server can reach
 * (Go's `IsGlobalUnicast`).
 */
export function isProxyable(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && !REFUSED.check(address, version === 6 ? "ipv6" : "ipv4");
}
