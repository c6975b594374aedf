import { isIP } from "node:net";

/** Another server that resolves names. */
export interface NameServer {
  readonly address: string;
  readonly port: number;
}

const DNS_PORT = 53;
/** glibc uses three. */
const MAX_SERVERS = 8;

/** The name servers in the text of a resolv.conf, in its order. Lines that nobody understands are skipped, as glibc does. */
export function readNameServers(text: string): NameServer[] {
  const addresses = text.split("\n").flatMap((line) => {
    const [keyword, address = ""] = line.trim().split(/\s+/);
    return keyword === "nameserver" && isIP(address.split("%")[0] ?? "") !== 0 ? [address] : [];
  });
  return [...new Set(addresses)].slice(0, MAX_SERVERS).map((address) => ({ address, port: DNS_PORT }));
}
