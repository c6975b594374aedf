/** Addresses of pods. */
export const DEFAULT_POD_CIDR = "10.64.0.0/16";
/** The interface that connects them. */
export const DEFAULT_BRIDGE = "nodelet0";

/** The pod network of one containerd: a bridge of its own with addresses from `podCidr`. */
interface CniConfigOptions {
  networkName: string;
  /** At most 15 characters, as the kernel wants of an interface. */
  bridge: string;
  /** IPv4, e.g. `10.64.0.0/16`. */
  podCidr: string;
  addressDirectory: string;
}

/** 0.4.0 is what both old and new plugins speak. */
const CNI_VERSION = "0.4.0";

/** The text of a CNI network list: bridge, host-local addresses, host ports. Loopback is added by containerd itself. */
export function computeCniConfig(options: CniConfigOptions): string {
  const bridge = {
    type: "bridge",
    bridge: options.bridge,
    isGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam: {
      type: "host-local",
      dataDir: options.addressDirectory,
      ranges: [[{ subnet: options.podCidr }]],
      routes: [{ dst: "0.0.0.0/0" }],
    },
  };
  const portmap = { type: "portmap", capabilities: { portMappings: true }, snat: true };
  const list = { cniVersion: CNI_VERSION, name: options.networkName, plugins: [bridge, portmap] };
  return `${JSON.stringify(list, undefined, 2)}\n`;
}
