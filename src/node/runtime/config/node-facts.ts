import type { SizingFacts } from "../../resources/sizes/sizing-facts.ts";
import type { NodeDns } from "../identity/dns.ts";

/** Everything about this node that its pods' sandboxes and containers depend on. Read once, at start. */
export interface NodeFacts extends NodeDns, SizingFacts {
  nodeName: string;
  /** What pods may use of the node, by resource: what the downward API reports to a container without limits. */
  allocatable: Readonly<Record<string, string>>;
  /** `/var/lib/kubelet` by default: pods' directories and seccomp profiles are below it. */
  rootDirectory: string;
  /** `/var/log/pods` by default. */
  podLogsDirectory: string;
  /** Whether a container that names no seccomp profile gets the runtime's default one rather than none. */
  seccompDefault: boolean;
  /** The kernel labels files, so that those of volumes need the labels of their containers. */
  seLinuxEnabled: boolean;
  /** The kernel has AppArmor, and it is on. */
  appArmorEnabled: boolean;
}
