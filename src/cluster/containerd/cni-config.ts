/** The address range of pods. */
export const DEFAULT_POD_CIDR = "10.64.0.0/16";
/** The bridge that connects the pods. */
export const DEFAULT_BRIDGE = "nodelet0";

/** The pod network of one containerd: a bridge of its own with addresses from `podCidr`. */
interface CniConfigOptions {
  networkName: string;
  /** The name has at most 15 characters, which is the kernel's limit for an interface. */
  bridge: string;
  /** The ranges begin with IPv4: `10.64.0.0/16`, or `10.64.0.0/16,fd00:64::/112`. */
  podCidr: string;
  addressDirectory: string;
  /**
   * In bytes: that of the machine's own network, because a pod's larger packets get lost where nobody tells it. Default:
   * the kernel's, 1500.
   */
  mtu: number | undefined;
  /**
   * Host ports answer on the node's own 127.0.0.1, too. The plugin then opens 127.0.0.0/8 to the bridge, so it needs the
   * loopback guard.
   */
  isLoopbackGuarded: boolean;
}

/** Both old and new plugins support version 0.4.0. */
const CNI_VERSION = "0.4.0";

/**
 * Computes the text of a CNI network list: bridge, host-local addresses, host ports. containerd itself adds the
 * loopback.
 */
export function computeCniConfig(options: CniConfigOptions): string {
  const subnets = options.podCidr.split(",");
  const bridge = {
    type: "bridge",
    bridge: options.bridge,
    isGateway: true,
    // The guard of the masquerade has one rule for all pods: the plugin would run iptables several times for each.
    ipMasq: false,
    hairpinMode: true,
    mtu: options.mtu,
    ipam: {
      type: "host-local",
      dataDir: options.addressDirectory,
      ranges: subnets.map((subnet) => [{ subnet }]),
      routes: subnets.map((subnet) => ({ dst: subnet.includes(":") ? "::/0" : "0.0.0.0/0" })),
    },
  };
  const portmap = { type: "portmap", capabilities: { portMappings: true }, snat: options.isLoopbackGuarded };
  const list = { cniVersion: CNI_VERSION, name: options.networkName, plugins: [bridge, portmap] };
  return `${JSON.stringify(list, undefined, 2)}\n`;
}
