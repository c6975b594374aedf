import { MEMORY_CONTROLLER_MEND } from "../../host/memory-controller.ts";
import { parseContainerdVersion } from "../containerd/containerd-config.ts";
import type { DoctorFacts } from "./doctor-facts.ts";
import type { Finding } from "./finding.ts";
import { judgeForwarding, judgeInput } from "./judge-firewalls.ts";
import { judgeRuntimeFeatures, judgeUserNamespaces } from "./judge-runtime.ts";
import { judgePrograms } from "./up-programs.ts";

const NEEDED_NAMESPACES = ["ipc", "mnt", "net", "pid", "uts"];
const NEEDED_CONTROLLERS = ["cpu", "cpuset", "pids"];
const MIN_DISK_BYTES = 256 * 1024 * 1024;
const LOW_DISK_RATIO = 0.1;
const MIN_CONTAINERD_MINOR = 6;
const API_PORT = 6443;
/** Those of containerd, the node agent and its neighbours, with room to spare. */
const NODE_INOTIFY_INSTANCES = 16;
/** Those of a sandbox and of one container. */
const POD_INOTIFY_INSTANCES = 2;
/** The default of `maxPods`. */
const USUAL_PODS = 110;

/** Judges every check, in the order in which a person should fix the problems. */
export function judgeMachine(facts: DoctorFacts): Finding[] {
  return CHECKS.map((check) => check(facts));
}

const CHECKS: ReadonlyArray<(facts: DoctorFacts) => Finding> = [
  root,
  namespaces,
  judgeUserNamespaces,
  cgroups,
  inotify,
  overlay,
  containerd,
  runc,
  judgeRuntimeFeatures,
  cniPlugins,
  iptables,
  nftables,
  judgePrograms,
  busybox,
  sysResource,
  rootMount,
  swap,
  ipForward,
  bridgeNetfilter,
  judgeForwarding,
  judgeInput,
  ports,
  disk,
];

function root({ uid }: DoctorFacts): Finding {
  const check = "root";
  if (uid === 0) return { check, level: "ok", found: "running as root" };
  const meaning = "containers, mounts and networks cannot be made";
  return { check, level: "fail", found: `running as user ${uid}`, meaning, mend: "run it as root: sudo nodelet …" };
}

function namespaces(facts: DoctorFacts): Finding {
  const check = "namespaces";
  const missing = NEEDED_NAMESPACES.filter((name) => !facts.namespaces.includes(name));
  if (missing.length === 0) return { check, level: "ok", found: NEEDED_NAMESPACES.join(", ") };
  return {
    check,
    level: "fail",
    found: `missing: ${missing.join(", ")}`,
    meaning: "containers cannot be isolated",
    mend: `use a kernel with these namespaces (this is ${facts.kernelRelease})`,
  };
}

function cgroups({ cgroup }: DoctorFacts): Finding {
  const check = "cgroups";
  if (cgroup.version === undefined) {
    const mend = "mount cgroup2 on /sys/fs/cgroup: mount -t cgroup2 none /sys/fs/cgroup";
    return { check, level: "fail", found: "no cgroup file system", meaning: "containers cannot be limited", mend };
  }
  const missing = NEEDED_CONTROLLERS.filter((name) => !cgroup.controllers.includes(name));
  const lack = (names: readonly string[]) => `version ${cgroup.version}, missing: ${names.join(", ")}`;
  if (missing.length > 0) {
    const mend = `start the kernel without ${missing.map((name) => `cgroup_disable=${name}`).join(" ")}`;
    const meaning = "resources of containers cannot be limited";
    return { check, level: "fail", found: lack(missing), meaning, mend };
  }
  if (cgroup.controllers.includes("memory"))
    return { check, level: "ok", found: `version ${cgroup.version}: ${cgroup.controllers.join(", ")}` };
  return {
    check,
    level: "warn",
    found: lack(["memory"]),
    meaning: "memory of pods is neither limited nor counted; containers with a limit of memory do not start",
    mend: MEMORY_CONTROLLER_MEND,
  };
}

function inotify({ inotify: instances, cgroup }: DoctorFacts): Finding {
  const check = "inotify";
  if (instances === undefined) return { check, level: "ok", found: "not read", meaning: "only root can count it" };
  const { limit, used } = instances;
  const left = Math.max(0, limit - used);
  const found = `${used} of root's ${limit} instances in use`;
  const mend = "sysctl -w fs.inotify.max_user_instances=8192, and in a file of /etc/sysctl.d for the next boot";
  if (left < NODE_INOTIFY_INSTANCES) {
    return { check, level: "fail", found, meaning: "containerd and the node agent cannot watch files", mend };
  }
  const pods = Math.floor((left - NODE_INOTIFY_INSTANCES) / POD_INOTIFY_INSTANCES);
  if (cgroup.version !== 2 || pods >= USUAL_PODS) return { check, level: "ok", found };
  const meaning = `containerd takes one for each container, so that about ${pods} pods of one container run`;
  return { check, level: "warn", found, meaning, mend };
}

function overlay({ overlayWorks, disk: { path } }: DoctorFacts): Finding {
  const check = "overlayfs";
  if (overlayWorks === true) return { check, level: "ok", found: `mounts on ${path}` };
  if (overlayWorks === undefined) {
    return { check, level: "warn", found: "not tried", meaning: "only root can mount", mend: "run doctor as root" };
  }
  return {
    check,
    level: "warn",
    found: `does not mount on ${path}`,
    meaning: "images are copied for each container, which is slow and takes space",
    mend: "modprobe overlay, or choose a state directory on ext4 or xfs with --state-dir",
  };
}

function containerd({ containerd: printed }: DoctorFacts): Finding {
  const check = "containerd";
  const mend = "apt-get install containerd";
  if (printed === undefined) {
    return { check, level: "fail", found: "not installed", meaning: "nothing runs containers", mend };
  }
  const version = parseContainerdVersion(printed);
  if (version === undefined) return { check, level: "fail", found: printed, meaning: "this is no containerd", mend };
  if (version.major > 1 || version.minor >= MIN_CONTAINERD_MINOR) return { check, level: "ok", found: version.text };
  return { check, level: "fail", found: version.text, meaning: "CRI v1 came with containerd 1.6", mend };
}

function runc({ runc: printed }: DoctorFacts): Finding {
  const check = "runc";
  if (printed !== undefined) return { check, level: "ok", found: printed.replace(/^runc version /, "") };
  const mend = "apt-get install runc";
  return { check, level: "fail", found: "not installed", meaning: "containerd starts containers with it", mend };
}

function cniPlugins({ cniBinDirectory }: DoctorFacts): Finding {
  const check = "CNI plugins";
  if (cniBinDirectory !== undefined) return { check, level: "ok", found: cniBinDirectory };
  const mend = "apt-get install containernetworking-plugins";
  const found = "bridge, host-local, portmap or loopback is missing";
  return { check, level: "fail", found, meaning: "pods get no network", mend };
}

function iptables({ iptables: printed }: DoctorFacts): Finding {
  const check = "iptables";
  if (printed !== undefined) return { check, level: "ok", found: printed };
  const mend = "apt-get install iptables";
  return { check, level: "fail", found: "not installed", meaning: "pods get no host ports and no way out", mend };
}

function nftables({ nft: printed, nftProblem }: DoctorFacts): Finding {
  const check = "nftables";
  if (printed !== undefined && nftProblem !== undefined) {
    const mend = "modprobe nf_tables, or start without the proxy: nodelet up --no-proxy";
    const found = `${printed}, but it does not work: ${nftProblem}`;
    return { check, level: "fail", found, meaning: "services lead nowhere", mend };
  }
  if (printed !== undefined) return { check, level: "ok", found: printed };
  const mend = "apt-get install nftables, or start without the proxy: nodelet up --no-proxy";
  return { check, level: "fail", found: "not installed", meaning: "services lead nowhere", mend };
}

function busybox(facts: DoctorFacts): Finding {
  const check = "busybox";
  if (facts.busybox) return { check, level: "ok", found: "installed" };
  const mend = "apt-get install busybox-static";
  return { check, level: "warn", found: "not installed", meaning: "the demo image cannot be built", mend };
}

function sysResource({ hasSysResource }: DoctorFacts): Finding {
  const check = "CAP_SYS_RESOURCE";
  if (hasSysResource) return { check, level: "ok", found: "present" };
  return {
    check,
    level: "warn",
    found: "missing",
    meaning: "containers cannot be protected from the OOM killer (oom_score_adj is only ever raised); pods run",
    mend: "give this machine or container the capability",
  };
}

function rootMount({ isRootShared }: DoctorFacts): Finding {
  const check = "mount propagation";
  if (isRootShared) return { check, level: "ok", found: "/ is shared" };
  return {
    check,
    level: "ok",
    found: "/ is private",
    meaning: "pods run in a mount namespace of their own; mounts made on the machine later do not show in them",
  };
}

function swap({ swapBytes }: DoctorFacts): Finding {
  const check = "swap";
  if (swapBytes === 0) return { check, level: "ok", found: "none" };
  return {
    check,
    level: "warn",
    found: `${formatBytes(swapBytes)} in use`,
    meaning: "a kubelet refuses to start with it unless failSwapOn is false, which nodelet up sets",
    mend: "swapoff -a",
  };
}

function ipForward(facts: DoctorFacts): Finding {
  const check = "IP forwarding";
  if (facts.ipForward) return { check, level: "ok", found: "on" };
  return { check, level: "ok", found: "off", meaning: "it is turned on when the first pod gets its network" };
}

function bridgeNetfilter({ bridgeCallsIptables }: DoctorFacts): Finding {
  const check = "br_netfilter";
  if (bridgeCallsIptables === true) return { check, level: "ok", found: "loaded, bridges call iptables" };
  return {
    check,
    level: "ok",
    found: bridgeCallsIptables === undefined ? "not loaded" : "bridges do not call iptables",
    meaning: "a pod that calls another pod of this node by its host port may get no answer; pod addresses work",
    mend: "modprobe br_netfilter && sysctl -w net.bridge.bridge-nf-call-iptables=1",
  };
}

function ports({ portsTaken, runningPid }: DoctorFacts): Finding {
  const check = "ports";
  if (portsTaken.length === 0) return { check, level: "ok", found: "free" };
  const found = `taken: ${portsTaken.join(", ")}`;
  if (runningPid !== undefined)
    return { check, level: "ok", found: `${found}, by the nodelet that runs (pid ${runningPid})` };
  if (portsTaken.includes(API_PORT)) {
    const mend = "stop what listens there, or start with another --api-port";
    return { check, level: "warn", found, meaning: "nodelet up does not start: its API cannot listen", mend };
  }
  const mend = "stop the other kubelet, or start with --healthz-port 0 or another port";
  return { check, level: "warn", found, meaning: "the node agent's health server cannot listen", mend };
}

function disk({ disk: { path, availableBytes, totalBytes } }: DoctorFacts): Finding {
  const check = "disk space";
  const found = `${formatBytes(availableBytes)} of ${formatBytes(totalBytes)} free on ${path}`;
  const mend = "free some, or choose another place with --state-dir";
  if (availableBytes < MIN_DISK_BYTES) return { check, level: "fail", found, meaning: "images do not fit", mend };
  if (availableBytes >= totalBytes * LOW_DISK_RATIO) return { check, level: "ok", found };
  return { check, level: "warn", found, meaning: "pods are ended when 256 MiB are left", mend };
}

function formatBytes(bytes: number): string {
  const gibibytes = bytes / 1024 ** 3;
  return gibibytes >= 1 ? `${gibibytes.toFixed(1)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
}
