import {
  checkAddedCapabilities,
  checkAppArmor,
  checkHandlerHosts,
  checkHostNamespaces,
  checkHostPaths,
  checkHostPorts,
  checkPrivileged,
  checkProcMount,
  checkSeLinux,
  checkSysctls,
  checkWindowsHostProcess,
} from "./baseline-checks.ts";
import {
  checkDroppedCapabilities,
  checkPrivilegeEscalation,
  checkRunAsNonRoot,
  checkRunAsUser,
  checkVolumeTypes,
} from "./restricted-checks.ts";
import { checkSeccompAnnotations, checkSeccompNotOff, checkSeccompOn } from "./seccomp-checks.ts";
import type { PodCheck } from "./secured-pod.ts";

/** One rule of the standards in its history. */
export interface SecurityCheck {
  readonly id: string;
  readonly level: "baseline" | "restricted";
  /** Pairs of the minor of Kubernetes 1.x from which a form is in force, and the form; ascending. */
  readonly forms: readonly (readonly [since: number, check: PodCheck])[];
  /** The baseline rule that need not be asked where this one is, because this one is stricter. */
  readonly replaces?: string;
}

const SYSCTLS_27 = ["net.ipv4.ip_local_reserved_ports"];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
];
const SYSCTLS_32 = [...SYSCTLS_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];

/**
 * All rules with their versions (`k8s.io/pod-security-admission/policy`), in the order of upstream's messages: those of
 * baseline first, each by identifier.
 */
export const SECURITY_CHECKS: readonly SecurityCheck[] = [
  { id: "appArmorProfile", level: "baseline", forms: [[0, checkAppArmor]] },
  { id: "capabilities_baseline", level: "baseline", forms: [[0, checkAddedCapabilities]] },
  { id: "hostNamespaces", level: "baseline", forms: [[0, checkHostNamespaces]] },
  { id: "hostPathVolumes", level: "baseline", forms: [[0, checkHostPaths]] },
  { id: "hostPorts", level: "baseline", forms: [[0, checkHostPorts]] },
  { id: "hostProbesAndHostLifecycle", level: "baseline", forms: [[34, checkHandlerHosts]] },
  { id: "privileged", level: "baseline", forms: [[0, checkPrivileged]] },
  {
    id: "procMount",
    level: "baseline",
    forms: [
      [0, checkProcMount],
      [35, unlessUserNamespace(checkProcMount)],
    ],
  },
  {
    id: "seLinuxOptions",
    level: "baseline",
    forms: [
      [0, checkSeLinux([])],
      [31, checkSeLinux(["container_engine_t"])],
    ],
  },
  {
    id: "seccompProfile_baseline",
    level: "baseline",
    forms: [
      [0, checkSeccompAnnotations],
      [19, checkSeccompNotOff],
    ],
  },
  {
    id: "sysctls",
    level: "baseline",
    forms: [
      [0, checkSysctls([])],
      [27, checkSysctls(SYSCTLS_27)],
      [29, checkSysctls(SYSCTLS_29)],
      [32, checkSysctls(SYSCTLS_32)],
    ],
  },
  { id: "windowsHostProcess", level: "baseline", forms: [[0, checkWindowsHostProcess]] },
  {
    id: "allowPrivilegeEscalation",
    level: "restricted",
    forms: [
      [8, checkPrivilegeEscalation],
      [25, unlessWindows(checkPrivilegeEscalation)],
    ],
  },
  {
    id: "capabilities_restricted",
    level: "restricted",
    forms: [
      [22, checkDroppedCapabilities],
      [25, unlessWindows(checkDroppedCapabilities)],
    ],
    replaces: "capabilities_baseline",
  },
  { id: "procMount_restricted", level: "restricted", forms: [[35, checkProcMount]], replaces: "procMount" },
  { id: "restrictedVolumes", level: "restricted", forms: [[0, checkVolumeTypes]], replaces: "hostPathVolumes" },
  {
    id: "runAsNonRoot",
    level: "restricted",
    forms: [
      [0, checkRunAsNonRoot],
      [35, unlessUserNamespace(checkRunAsNonRoot)],
    ],
  },
  {
    id: "runAsUser",
    level: "restricted",
    forms: [
      [23, checkRunAsUser],
      [35, unlessUserNamespace(checkRunAsUser)],
    ],
  },
  {
    id: "seccompProfile_restricted",
    level: "restricted",
    forms: [
      [19, checkSeccompOn],
      [25, unlessWindows(checkSeccompOn)],
    ],
    replaces: "seccompProfile_baseline",
  },
];

/** Leaves out pods of Windows, which cannot set the field. */
function unlessWindows(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}

/** Leaves out pods whose users are not those of the node. */
function unlessUserNamespace(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}
