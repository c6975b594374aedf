import type { ForeignFirewall } from "../containerd/foreign-firewalls.ts";
import type { InotifyFacts } from "./inotify-facts.ts";
import type { RuntimeWord } from "./runtime-word.ts";

/**
 * The facts about a machine that decide whether it can run pods; `readDoctorFacts` reads them, `judgeMachine` judges
 * them.
 */
export interface DoctorFacts {
  /** The effective user ID. */
  uid: number;
  kernelRelease: string;
  /** The kinds that the kernel has: `net`, `mnt`, `pid`, … */
  namespaces: readonly string[];
  /** The number is 0 where the kernel forbids them. */
  maxUserNamespaces: number;
  cgroup: CgroupFacts;
  /** Undefined where it could not be read (no root). */
  inotify: InotifyFacts | undefined;
  /** Tells whether overlayfs mounts where images would lie; undefined where that could not be tried (no root). */
  overlayWorks: boolean | undefined;
  /** The version that each program prints; undefined when it is not installed. */
  containerd: string | undefined;
  runc: string | undefined;
  /** The runtime's answer; undefined where no runtime runs, or none may be asked. */
  runtimeWord: RuntimeWord | undefined;
  iptables: string | undefined;
  nft: string | undefined;
  /** What nft says when the kernel has no nf_tables for it; undefined where it lists tables, or could not be tried (no root). */
  nftProblem: string | undefined;
  /** The other programs that `nodelet up` starts and that are not installed. */
  missingPrograms: readonly string[];
  /** True when there is a busybox, for the demo image. */
  busybox: boolean;
  cniBinDirectory: string | undefined;
  swapBytes: number;
  hasSysResource: boolean;
  isRootShared: boolean;
  /** `net.ipv4.ip_forward`; the bridge plugin turns it on. */
  ipForward: boolean;
  /** `net.bridge.bridge-nf-call-iptables`; undefined when br_netfilter is not loaded. */
  bridgeCallsIptables: boolean | undefined;
  /** The policy of the filter table's FORWARD chain; undefined when it could not be read. */
  forwardPolicy: string | undefined;
  /** The policy of its INPUT chain for what comes from the default bridge: a rule may accept what the policy drops. */
  inputPolicy: string | undefined;
  /** Those beside iptables. */
  foreignFirewalls: readonly ForeignFirewall[];
  /** The ports that nodelet listens on and that another process already uses. */
  portsTaken: readonly number[];
  disk: { path: string; availableBytes: number; totalBytes: number };
  /** The PID of the supervisor that runs on the state directory. */
  runningPid: number | undefined;
}

export interface CgroupFacts {
  /** Version 1 includes machines that mount both versions, with the controllers in version 1. */
  version: 1 | 2 | undefined;
  controllers: readonly string[];
}
