import type { Pod } from "../../api/gen/types.ts";
import type { AdmitHandler } from "./admission.ts";

/** Namespaced sysctls that a pod may set without leave, as upstream lists them for kernels from 4.18 on. */
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

/** Refuses sysctls that are not safe and not allowed; a pattern may end in `*`. `/` and `.` separate alike. */
export function createSysctlHandler(allowedUnsafeSysctls: readonly string[]): AdmitHandler {
  const allowed = [...SAFE_SYSCTLS, ...allowedUnsafeSysctls.map(normalise)];
  return (pod: Pod) => {
    for (const { name } of pod.spec?.securityContext?.sysctls ?? []) {
      if (!allowed.some((pattern) => matches(pattern, normalise(name)))) {
        return { reason: "SysctlForbidden", message: `forbidden sysctl: "${name}" not allowlisted` };
      }
    }
    return undefined;
  };
}

function normalise(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  return separator === "/" ? name.replace(/[./]/g, (found) => (found === "/" ? "." : "/")) : name;
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
