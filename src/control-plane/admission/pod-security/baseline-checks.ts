import type { LifecycleHandler, Probe } from "../../../api/gen/types.ts";
import { findBadContainers, findBadSetters, nameContainers, type PodCheck, plural, quoteAll } from "./secured-pod.ts";

const CAPABILITIES: ReadonlySet<string> = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

const APP_ARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";

/** AppArmor is on, by the runtime's profile or one of the node. */
export const checkAppArmor: PodCheck = (pod) => {
  const found = findBadSetters(pod, ({ appArmorProfile }) => {
    const isGood = appArmorProfile === undefined || ["RuntimeDefault", "Localhost"].includes(appArmorProfile.type);
    return isGood ? [] : [appArmorProfile.type];
  });
  const annotations = Object.entries(pod.annotations)
    .filter(([name, value]) => name.startsWith(APP_ARMOR_ANNOTATION) && !isGoodAppArmor(value))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .sort();
  const setters = [...found.setters, ...(annotations.length > 0 ? [plural(annotations.length, "annotation")] : [])];
  if (setters.length === 0) return undefined;
  const values = [...found.values, ...annotations];
  return {
    reason: plural(values.length, "forbidden AppArmor profile"),
    detail: `${setters.join(" and ")} must not set AppArmor profile type to ${quoteAll(values)}`,
  };
};

const isGoodAppArmor = (profile: string) => {
  return profile === "" || profile === "runtime/default" || profile.startsWith("localhost/");
};

/** No capability is added that runtimes do not give by default. */
export const checkAddedCapabilities: PodCheck = (pod) => {
  const { names, values } = findBadContainers(pod, ({ securityContext }) => {
    return (securityContext?.capabilities?.add ?? []).filter((capability) => !CAPABILITIES.has(capability));
  });
  if (names.length === 0) return undefined;
  const detail = `${nameContainers(names)} must not include ${quoteAll(values)} in securityContext.capabilities.add`;
  return { reason: "non-default capabilities", detail };
};

/** The pod has a network, process and IPC namespace of its own. */
export const checkHostNamespaces: PodCheck = ({ spec }) => {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((field) => `${field}=true`).join(", ") };
};

/** No directory of the node is mounted. */
export const checkHostPaths: PodCheck = ({ spec }) => {
  const names = (spec.volumes ?? []).flatMap(({ name, hostPath }) => (hostPath === undefined ? [] : [name]));
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural(names.length, "volume")} ${quoteAll(names)}` };
};

/** No port of the node is taken. */
export const checkHostPorts: PodCheck = (pod) => {
  const { names, values } = findBadContainers(pod, ({ ports = [] }) => {
    return ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]));
  });
  if (names.length === 0) return undefined;
  const detail = `${nameContainers(names)} ${uses(names)} ${plural(values.length, "hostPort")} ${values.join(", ")}`;
  return { reason: "hostPort", detail };
};

const uses = (names: readonly string[]) => (names.length === 1 ? "uses" : "use");

/** Probes and lifecycle hooks call the pod itself, and no other host. */
export const checkHandlerHosts: PodCheck = (pod) => {
  const { names, values } = findBadContainers(pod, (container) => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(hostsOf);
  });
  if (names.length === 0) return undefined;
  const sorted = [...names].sort();
  const what = plural(values.length, "probe or lifecycle host");
  const detail = `${nameContainers(sorted)} ${uses(names)} ${what} ${quoteAll(values)}`;
  return { reason: "probe or lifecycle host", detail };
};

function hostsOf(handler: Probe | LifecycleHandler | undefined): string[] {
  return [handler?.httpGet?.host ?? "", handler?.tcpSocket?.host ?? ""].filter((host) => host !== "");
}

/** No container is privileged. */
export const checkPrivileged: PodCheck = (pod) => {
  const { names } = findBadContainers(pod, ({ securityContext }) => (securityContext?.privileged ? ["true"] : []));
  if (names.length === 0) return undefined;
  return { reason: "privileged", detail: `${nameContainers(names)} must not set securityContext.privileged=true` };
};

/** The masks over /proc stay on. */
export const checkProcMount: PodCheck = (pod) => {
  const { names, values } = findBadContainers(pod, ({ securityContext }) => {
    const { procMount = "Default" } = securityContext ?? {};
    return procMount === "Default" ? [] : [procMount];
  });
  if (names.length === 0) return undefined;
  const detail = `${nameContainers(names)} must not set securityContext.procMount to ${quoteAll(values)}`;
  return { reason: "procMount", detail };
};

/** SELinux has one of the types for containers, and no user or role of the pod's own. */
export function checkSeLinux(types: readonly string[]): PodCheck {
  const allowed = new Set(["", "container_t", "container_init_t", "container_kvm_t", ...types]);
  return (pod) => {
    const badTypes = new Set<string>();
    const others = new Set<string>();
    const { setters } = findBadSetters(pod, ({ seLinuxOptions: { type = "", user = "", role = "" } = {} }) => {
      if (!allowed.has(type)) badTypes.add(type);
      if (user !== "") others.add("user may not be set");
      if (role !== "") others.add("role may not be set");
      return allowed.has(type) && user === "" && role === "" ? [] : ["forbidden"];
    });
    if (setters.length === 0) return undefined;
    const typeList = badTypes.size === 0 ? [] : [`${plural(badTypes.size, "type")} ${quoteAll([...badTypes].sort())}`];
    // Upstream names the user before the role, which is the reverse of their order in the alphabet.
    const data = [...typeList, ...[...others].sort().reverse()].join("; ");
    const detail = `${setters.join(" and ")} set forbidden securityContext.seLinuxOptions: ${data}`;
    return { reason: "seLinuxOptions", detail };
  };
}

const OLD_SYSCTLS: readonly string[] = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];

/** Only sysctls are set that concern the pod alone; `added` are those that became safe since version 1.0. */
export function checkSysctls(added: readonly string[]): PodCheck {
  const safe = new Set([...OLD_SYSCTLS, ...added]);
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !safe.has(name));
    return names.length === 0 ? undefined : { reason: "forbidden sysctls", detail: names.join(", ") };
  };
}

/** No container of Windows runs as a process of the host. */
export const checkWindowsHostProcess: PodCheck = (pod) => {
  const { setters } = findBadSetters(pod, ({ windowsOptions }) => (windowsOptions?.hostProcess ? ["true"] : []));
  if (setters.length === 0) return undefined;
  const detail = `${setters.join(" and ")} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: "hostProcess", detail };
};
