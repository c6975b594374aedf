import { isIP } from "node:net";
import type { NodeAddress } from "../../../api/gen/types.ts";

export interface NodeAddressesInput {
  readonly nodeName: string;
  /** The addresses are those of `--node-ip`. `0.0.0.0` and `::` stand for "one of that family". */
  readonly nodeIps: readonly string[];
  /** True when a cloud controller sets the addresses. */
  readonly isCloudExternal: boolean;
  /** The addresses of the interface with the default route. */
  readonly machineAddresses: readonly string[];
  /** The addresses of all interfaces. An address that was configured must be one of them. */
  readonly interfaceAddresses: readonly string[];
  /** What to tell where the machine has no default route and the node has no address yet; undefined for none. */
  readonly fallbackIp: string | undefined;
  readonly previous: readonly NodeAddress[];
}

/** `addresses` are those to report now; `problem` says why they are not what was asked for. */
interface NodeAddressesVerdict {
  readonly addresses: readonly NodeAddress[];
  readonly problem: string | undefined;
}

/**
 * Computes the node's addresses from the configuration or the machine and from nothing else. Name services are not
 * asked, since they often map the node's name to 127.0.1.1 (upstream: pkg/kubelet/nodestatus/setters.go, NodeAddress).
 */
export function computeNodeAddresses(input: NodeAddressesInput): NodeAddressesVerdict {
  const { nodeName, isCloudExternal, fallbackIp, previous } = input;
  const given = input.nodeIps.map(canonical).filter((address) => !isUnspecified(address));
  for (const [index, address] of given.entries()) {
    const fault = findFault(address, input.interfaceAddresses);
    const what = index === 0 ? "nodeIP" : "secondaryNodeIP";
    if (fault !== undefined) return { addresses: previous, problem: `failed to validate ${what}: ${fault}` };
  }
  const hostname = { type: "Hostname", address: nodeName };
  const tell = (...addresses: string[]): NodeAddressesVerdict => {
    return {
      addresses: [...addresses.map((address) => ({ type: "InternalIP", address })), hostname],
      problem: undefined,
    };
  };
  if (isCloudExternal && previous.length > 0) return { addresses: previous, problem: undefined };
  if (given.length > 0) return tell(...given);
  // The cloud controller knows the addresses better than a guess does (upstream #120720).
  if (isCloudExternal) return tell();
  if (isIP(nodeName) !== 0) return tell(canonical(nodeName));
  const found = chooseAddress(input);
  if (found !== undefined) return tell(found);
  // A route that is away for a while is no reason to tell another address.
  const last = previous.find(({ type }) => type === "InternalIP")?.address;
  if (fallbackIp !== undefined && (last ?? fallbackIp) === fallbackIp) return tell(fallbackIp);
  const problem = `can't get ip address of node ${nodeName}. error: no default routes found in "/proc/net/route" or "/proc/net/ipv6_route"`;
  return { addresses: previous, problem };
}

/**
 * Computes the annotation `alpha.kubernetes.io/provided-node-ip` for the cloud controller; undefined for no annotation.
 */
export function computeProvidedNodeIp(nodeIps: readonly string[], isCloudExternal: boolean): string | undefined {
  const given = nodeIps.map(canonical).filter((address) => !isUnspecified(address));
  return isCloudExternal && given.length > 0 ? given.join(",") : undefined;
}

/** Chooses one address of the wanted family, where there is one: IPv4, unless `--node-ip=::` prefers IPv6. */
function chooseAddress({ nodeIps, machineAddresses }: NodeAddressesInput): string | undefined {
  const wanted = isIP(nodeIps[0] ?? "") === 6 ? 6 : 4;
  return machineAddresses.find((address) => isIP(address) === wanted) ?? machineAddresses[0];
}

/** Describes what is wrong with an address, in upstream's words; undefined when nothing is. */
function findFault(address: string, interfaceAddresses: readonly string[]): string | undefined {
  if (isIP(address) === 0) return "nodeIP must be a valid IP address";
  const [first = 0, second = 0] = address.includes(":") ? [] : address.split(".").map(Number);
  if (first === 127 || address === "::1") return "nodeIP can't be loopback address";
  if ((first >= 224 && first < 240) || /^ff/.test(address)) return "nodeIP can't be a multicast address";
  if ((first === 169 && second === 254) || /^fe[89ab]/.test(address)) {
    return "nodeIP can't be a link-local unicast address";
  }
  if (interfaceAddresses.map(canonical).includes(address)) return undefined;
  return `node IP: "${address}" not found in the host's network interfaces`;
}

function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** Gives each IPv6 address one canonical text: lower case, with the longest run of zeros left out. */
function canonical(address: string): string {
  return isIP(address) === 6 && !address.includes("%") ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
