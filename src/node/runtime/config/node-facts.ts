import type { SizingFacts } from "../../resources/sizes/sizing-facts.ts";
import type { NodeDns } from "../identity/dns.ts";

/** Everything about this node that its pods' sandboxes and containers depend on. Read once, at start. */
export interface NodeFacts extends NodeDns, SizingFacts {
  nodeName: string;
  /** The amount of each resource that pods may use. The downward API reports it to a container without limits. */
  allocatable: Readonly<Record<string, string>>;
  /** The default is `/var/lib/kubelet`. The pods' directories and the seccomp profiles are below it. */
  rootDirectory: string;
  /** The default is `/var/log/pods`. */
  podLogsDirectory: string;
  /** True if a container that names no seccomp profile gets the runtime's default one; otherwise it gets none. */
  seccompDefault: boolean;
  /** True if the kernel labels files, so that the files of volumes need the labels of their containers. */
  seLinuxEnabled: boolean;
  /** True if the kernel has AppArmor and it is on. */
  appArmorEnabled: boolean;
}
