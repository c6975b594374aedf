import type { Pod } from "../../../api/gen/types.ts";
import { normaliseSysctl } from "../../../api/sysctls.ts";
import type { AdmitHandler, PodRejection } from "./pod-rejection.ts";

/** Namespaced sysctls that a pod may set without permission, as upstream lists them for kernels from 4.18 on. */
const SAFE_SYSCTLS: readonly string[] = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
];

/** The namespace that separates a sysctl with this prefix from the node's. */
const NAMESPACES: ReadonlyArray<{ prefix: string; namespace: "ipc" | "net" }> = [
  { prefix: "kernel.sem", namespace: "ipc" },
  { prefix: "kernel.shm", namespace: "ipc" },
  { prefix: "kernel.msg", namespace: "ipc" },
  { prefix: "fs.mqueue.", namespace: "ipc" },
  { prefix: "net.", namespace: "net" },
];

/**
 * Refuses sysctls that are neither safe nor allowed, and those that would set the node's own because the pod shares the
 * namespace with the node. A pattern may end in `*`; `/` and `.` both separate.
 */
export function createSysctlHandler(allowedUnsafeSysctls: readonly string[]): AdmitHandler {
  const allowed = [...SAFE_SYSCTLS, ...allowedUnsafeSysctls.map(normaliseSysctl)];
  return (pod: Pod) => {
    for (const sysctl of pod.spec?.securityContext?.sysctls ?? []) {
      const name = normaliseSysctl(sysctl.name);
      if (!allowed.some((pattern) => matches(pattern, name))) return forbidden(`"${name}" not allowlisted`);
      const shared = sharedNamespace(pod, name);
      if (shared !== undefined) return forbidden(`"${name}" not allowed with host ${shared} enabled`);
    }
    return undefined;
  };
}

function forbidden(why: string): PodRejection {
  return { reason: "SysctlForbidden", message: `forbidden sysctl: ${why}` };
}

function sharedNamespace({ spec }: Pod, name: string): "ipc" | "net" | undefined {
  const namespace = NAMESPACES.find(({ prefix }) => name.startsWith(prefix))?.namespace;
  const isShared = namespace === "net" ? spec?.hostNetwork : spec?.hostIPC;
  return isShared === true ? namespace : undefined;
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
