import { describe, expect, test } from "vitest";
import type { Container, PodSpec, Volume } from "../../../api/gen/types.ts";
import { describeViolations, evaluatePod } from "./evaluate-pod.ts";
import type { SecurityStandard } from "./security-policy.ts";

/** A pod that every standard of every version takes. */
const GOOD_CONTAINER = {
  name: "a",
  image: "i",
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
} satisfies Container;
const GOOD_POD = {
  containers: [GOOD_CONTAINER],
  securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
} satisfies PodSpec;

const withContext = (securityContext: PodSpec["securityContext"]): PodSpec => {
  return { ...GOOD_POD, securityContext: { ...GOOD_POD.securityContext, ...securityContext } };
};
const withContainer = (parts: Partial<Container>): PodSpec => {
  return { ...GOOD_POD, containers: [{ ...GOOD_CONTAINER, ...parts }] };
};
const withContainerContext = (securityContext: Container["securityContext"]): PodSpec => {
  return withContainer({ securityContext: { ...GOOD_CONTAINER.securityContext, ...securityContext } });
};
const withVolume = (source: Omit<Volume, "name">): PodSpec => ({ ...GOOD_POD, volumes: [{ name: "v", ...source }] });

function verdict(standard: SecurityStandard, spec: PodSpec, annotations: Record<string, string> = {}): string {
  return describeViolations(evaluatePod(standard, { annotations, spec }));
}

const baseline = (minor: number | "latest" = "latest"): SecurityStandard => ({ level: "baseline", minor });
const restricted = (minor: number | "latest" = "latest"): SecurityStandard => ({ level: "restricted", minor });

test.each([0, 8, 19, 22, 23, 25, 35, 99, "latest" as const])("a careful pod passes every standard of 1.%s", (minor) => {
  expect(verdict(restricted(minor), GOOD_POD)).toBe("");
  expect(verdict(baseline(minor), GOOD_POD)).toBe("");
});

test("privileged takes everything", () => {
  const spec = { ...withContainerContext({ privileged: true }), hostNetwork: true };
  expect(verdict({ level: "privileged", minor: "latest" }, spec)).toBe("");
});

const HTTP_PROBE = { httpGet: { port: 80, host: "example.com" } };

describe("baseline", () => {
  test.each<[string, PodSpec, string]>([
    [
      "host namespaces",
      { ...GOOD_POD, hostNetwork: true, hostIPC: true },
      "host namespaces (hostNetwork=true, hostIPC=true)",
    ],
    ["host paths", withVolume({ hostPath: { path: "/" } }), 'hostPath volumes (volume "v")'],
    [
      "host ports",
      withContainer({
        ports: [{ containerPort: 1, hostPort: 81 }, { containerPort: 2, hostPort: 80 }, { containerPort: 3 }],
      }),
      'hostPort (container "a" uses hostPorts 80, 81)',
    ],
    [
      "hosts of probes and hooks",
      withContainer({ livenessProbe: HTTP_PROBE, lifecycle: { preStop: { tcpSocket: { port: 1, host: "::1" } } } }),
      'probe or lifecycle host (container "a" uses probe or lifecycle hosts "::1", "example.com")',
    ],
    [
      "privileged containers",
      withContainerContext({ privileged: true }),
      'privileged (container "a" must not set securityContext.privileged=true)',
    ],
    [
      "capabilities",
      withContainerContext({ capabilities: { add: ["NET_RAW", "CHOWN", "CAP_CHOWN"] } }),
      'non-default capabilities (container "a" must not include "CAP_CHOWN", "NET_RAW" in securityContext.capabilities.add)',
    ],
    [
      "an unmasked /proc",
      withContainerContext({ procMount: "Unmasked" }),
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      "SELinux types, users and roles",
      withContext({ seLinuxOptions: { type: "spc_t", user: "u", role: "r" } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      "seccomp switched off",
      {
        ...withContext({ seccompProfile: { type: "Unconfined" } }),
        ...{
          initContainers: [
            { ...GOOD_CONTAINER, name: "b", securityContext: { seccompProfile: { type: "Unconfined" } } },
          ],
        },
      },
      'seccompProfile (pod and container "b" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      "AppArmor switched off",
      withContext({ appArmorProfile: { type: "Unconfined" } }),
      'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
    ],
    [
      "sysctls",
      withContext({
        sysctls: [
          { name: "net.ipv4.tcp_rmem", value: "1" },
          { name: "kernel.msgmax", value: "1" },
        ],
      }),
      "forbidden sysctls (kernel.msgmax)",
    ],
    [
      "host processes of Windows",
      withContext({ windowsOptions: { hostProcess: true } }),
      "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
    ],
  ])("forbids %s", (_name, spec, message) => {
    expect(verdict(baseline(), spec)).toBe(message);
  });

  test("names several containers, those of all sorts", () => {
    const securityContext = { privileged: true };
    const spec: PodSpec = {
      initContainers: [{ name: "i", image: "i", securityContext }],
      containers: [{ name: "c", image: "i", securityContext }],
      ephemeralContainers: [{ name: "e", image: "i", securityContext }],
    };
    expect(verdict(baseline(), spec)).toBe(
      'privileged (containers "i", "c", "e" must not set securityContext.privileged=true)',
    );
  });

  test("reads the annotations of AppArmor, and of seccomp in versions before 1.19", () => {
    const appArmor = { "container.apparmor.security.beta.kubernetes.io/a": "unconfined" };
    expect(verdict(baseline(), GOOD_POD, appArmor)).toBe(
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
    );
    const seccomp = { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" };
    expect(verdict(baseline(18), GOOD_POD, seccomp)).toBe(
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    );
    expect(verdict(baseline(19), GOOD_POD, seccomp)).toBe("");
  });
});

describe("restricted", () => {
  test.each<[string, PodSpec, string]>([
    [
      "privilege escalation",
      withContainerContext({ allowPrivilegeEscalation: true }),
      'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)',
    ],
    [
      "capabilities that are kept or added",
      withContainerContext({ capabilities: { add: ["CHOWN", "NET_BIND_SERVICE"] } }),
      'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
    [
      "volumes of the node and of networks",
      {
        ...GOOD_POD,
        volumes: [
          { name: "v", hostPath: { path: "/" } },
          { name: "w", nfs: { path: "/", server: "s" } },
          { name: "x", emptyDir: {} },
        ],
      },
      'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
    ],
    [
      "root by omission",
      { ...GOOD_POD, securityContext: { seccompProfile: { type: "RuntimeDefault" } } },
      'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
    ],
    [
      "root on purpose",
      withContainerContext({ runAsNonRoot: false }),
      'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
    ],
    ["the user 0", withContext({ runAsUser: 0 }), "runAsUser=0 (pod must not set runAsUser=0)"],
    [
      "no seccomp profile",
      { ...GOOD_POD, securityContext: { runAsNonRoot: true } },
      'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    [
      "an unmasked /proc, also in a user namespace",
      { ...withContainerContext({ procMount: "Unmasked" }), hostUsers: false },
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
  ])("forbids %s", (_name, spec, message) => {
    expect(verdict(restricted(), spec)).toBe(message);
  });

  test("forbids what baseline forbids, and tells that first", () => {
    const spec = { ...GOOD_POD, hostPID: true, securityContext: { ...GOOD_POD.securityContext, runAsUser: 0 } };
    expect(verdict(restricted(), spec)).toBe(
      "host namespaces (hostPID=true), runAsUser=0 (pod must not set runAsUser=0)",
    );
  });

  test("takes values of the containers where the pod has none", () => {
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: "Localhost", localhostProfile: "p" } };
    const spec = { containers: withContainerContext(securityContext).containers };
    expect(verdict(restricted(), spec)).toBe("");
  });
});

const UNMASKED = withContainerContext({ procMount: "Unmasked" });

test.each<[string, "baseline" | "restricted", number, PodSpec]>([
  [
    "sysctl of 1.27",
    "baseline",
    27,
    withContext({ sysctls: [{ name: "net.ipv4.ip_local_reserved_ports", value: "" }] }),
  ],
  ["sysctl of 1.29", "baseline", 29, withContext({ sysctls: [{ name: "net.ipv4.tcp_keepalive_time", value: "" }] })],
  ["sysctl of 1.32", "baseline", 32, withContext({ sysctls: [{ name: "net.ipv4.tcp_wmem", value: "" }] })],
  ["SELinux type of 1.31", "baseline", 31, withContext({ seLinuxOptions: { type: "container_engine_t" } })],
  ["unmasked /proc of a user namespace", "baseline", 35, { ...UNMASKED, hostUsers: false }],
  [
    "root of a user namespace",
    "restricted",
    35,
    { ...withContext({ runAsNonRoot: false, runAsUser: 0 }), hostUsers: false },
  ],
  ["pod of Windows", "restricted", 25, { ...withContainer({ securityContext: {} }), os: { name: "windows" } }],
])("a %s is allowed in %s from a version on", (_name, level, since, spec) => {
  expect(evaluatePod({ level, minor: since - 1 }, { annotations: {}, spec })).not.toEqual([]);
  expect(evaluatePod({ level, minor: since }, { annotations: {}, spec })).toEqual([]);
  expect(evaluatePod({ level, minor: "latest" }, { annotations: {}, spec })).toEqual([]);
});

test.each<[string, "baseline" | "restricted", number, PodSpec]>([
  ["host of a probe", "baseline", 34, withContainer({ startupProbe: HTTP_PROBE })],
  ["privilege escalation", "restricted", 8, withContainerContext({ allowPrivilegeEscalation: true })],
  ["missing seccomp profile", "restricted", 19, { ...GOOD_POD, securityContext: { runAsNonRoot: true } }],
  ["kept capability", "restricted", 22, withContainerContext({ capabilities: {} })],
  ["user 0", "restricted", 23, withContext({ runAsUser: 0 })],
])("a %s is forbidden in %s from a version on", (_name, level, since, spec) => {
  expect(evaluatePod({ level, minor: since - 1 }, { annotations: {}, spec })).toEqual([]);
  expect(evaluatePod({ level, minor: since }, { annotations: {}, spec })).toHaveLength(1);
  expect(evaluatePod({ level, minor: "latest" }, { annotations: {}, spec })).toHaveLength(1);
});
