import type { RuntimeWord } from "./runtime-word.ts";

/** What a machine has and lacks for running pods; read by `readDoctorFacts`, judged by `judgeMachine`. */
export interface DoctorFacts {
  /** Effective user id. */
  uid: number;
  kernelRelease: string;
  /** Kinds that the kernel has: `net`, `mnt`, `pid`, … */
  namespaces: readonly string[];
  /** 0 where the kernel forbids them. */
  maxUserNamespaces: number;
  cgroup: CgroupFacts;
  /** Undefined: could not be tried (no root). Otherwise whether overlayfs mounts where images would lie. */
  overlayWorks: boolean | undefined;
  /** What the programs print as their version; undefined when they are not installed. */
  containerd: string | undefined;
  runc: string | undefined;
  /** Undefined: no runtime runs, or none may be asked. */
  runtimeWord: RuntimeWord | undefined;
  iptables: string | undefined;
  /** Whether there is a busybox, for the demo image. */
  busybox: boolean;
  cniBinDirectory: string | undefined;
  swapBytes: number;
  hasSysResource: boolean;
  isRootShared: boolean;
  /** `net.ipv4.ip_forward`; the bridge plugin turns it on. */
  ipForward: boolean;
  /** `net.bridge.bridge-nf-call-iptables`; undefined when br_netfilter is not loaded. */
  bridgeCallsIptables: boolean | undefined;
  /** Of the filter table's FORWARD chain; undefined when it could not be read. */
  forwardPolicy: string | undefined;
  /** Ports that nodelet listens on and that something else has. */
  portsTaken: readonly number[];
  disk: { path: string; availableBytes: number; totalBytes: number };
  /** The supervisor that runs on the state directory. */
  runningPid: number | undefined;
}

export interface CgroupFacts {
  /** 1 includes machines that mount both, with the controllers in version 1. */
  version: 1 | 2 | undefined;
  controllers: readonly string[];
}
