import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSecurityContext, SecurityContext } from "../../../api/gen/types.ts";
import { SupplementalGroupsPolicy } from "../../../cri/gen/cri-v1.ts";
import {
  buildContainerSecurityContext,
  buildSandboxSecurityContext,
  type ContainerSecurityInput,
  findSecurityError,
  type ImageUser,
} from "./security-context.ts";

interface Case {
  why: string;
  pod?: PodSecurityContext;
  own?: SecurityContext;
  image?: ImageUser;
}

function make({ pod = {}, own = {}, image = {} }: Omit<Case, "why">): ContainerSecurityInput {
  const container: Container = { name: "main", securityContext: own };
  const metadata = { name: "web", namespace: "ns", uid: "u1" };
  return {
    pod: { metadata, spec: { containers: [container], securityContext: pod } },
    container,
    imageUser: image,
    node: { rootDirectory: "/var/lib/kubelet", seccompDefault: false },
  };
}

describe("buildContainerSecurityContext", () => {
  it.each<Case & { expected: object }>([
    { why: "an image without a user runs as root", expected: { runAsUser: { value: 0n }, runAsUsername: "" } },
    { why: "an image's numeric user", image: { uid: 7n }, expected: { runAsUser: { value: 7n }, runAsUsername: "" } },
    {
      why: "an image's named user",
      image: { username: "app" },
      expected: { runAsUser: undefined, runAsUsername: "app" },
    },
    {
      why: "the pod's user wins over the image's",
      pod: { runAsUser: 5, runAsGroup: 6 },
      image: { username: "app" },
      expected: { runAsUser: { value: 5n }, runAsUsername: "", runAsGroup: { value: 6n } },
    },
    {
      why: "the container's user wins over the pod's, also when it is root",
      pod: { runAsUser: 5, runAsGroup: 6 },
      own: { runAsUser: 0 },
      expected: { runAsUser: { value: 0n }, runAsGroup: { value: 6n } },
    },
    {
      why: "groups: the volumes' first",
      pod: { fsGroup: 100, supplementalGroups: [200, 300], supplementalGroupsPolicy: "Strict" },
      expected: { supplementalGroups: [100n, 200n, 300n], supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict },
    },
    {
      why: "capabilities",
      own: { capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] } },
      expected: {
        capabilities: { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"], addAmbientCapabilities: [] },
      },
    },
    {
      why: "SELinux of the pod",
      pod: { seLinuxOptions: { level: "s0:c1" } },
      expected: { selinuxOptions: { user: "", role: "", type: "", level: "s0:c1" } },
    },
    {
      why: "no_new_privs only when escalation is refused",
      own: { allowPrivilegeEscalation: false },
      expected: { noNewPrivs: true },
    },
    { why: "not when it is allowed", own: { allowPrivilegeEscalation: true }, expected: { noNewPrivs: false } },
    { why: "a read-only root", own: { readOnlyRootFilesystem: true }, expected: { readonlyRootfs: true } },
    { why: "privileged", own: { privileged: true }, expected: { privileged: true } },
    { why: "an unmasked /proc", own: { procMount: "Unmasked" }, expected: { maskedPaths: [], readonlyPaths: [] } },
  ])("$why", ({ expected, ...input }) => {
    expect(buildContainerSecurityContext(make(input))).toMatchObject(expected);
    expect(findSecurityError(make(input))).toBeUndefined();
  });

  it("masks what a container must not see", () => {
    const { maskedPaths, readonlyPaths } = buildContainerSecurityContext(make({ own: { procMount: "Default" } }));
    expect(maskedPaths).toEqual(
      expect.arrayContaining(["/proc/kcore", "/sys/firmware", "/sys/devices/virtual/powercap"]),
    );
    expect(readonlyPaths).toContain("/proc/sys");
  });
});

describe("findSecurityError", () => {
  const nonRoot = { runAsNonRoot: true };

  it.each<Case>([
    { why: "a numeric user of the container", own: { ...nonRoot, runAsUser: 5 } },
    { why: "a numeric user of the pod", pod: { ...nonRoot, runAsUser: 5 } },
    { why: "a numeric user of the image", pod: nonRoot, image: { uid: 5n } },
    { why: "root where the container overrides the pod", pod: nonRoot, own: { runAsNonRoot: false } },
  ])("accepts $why", (input) => {
    expect(findSecurityError(make(input))).toBeUndefined();
  });

  it.each<Case & { error: string }>([
    {
      why: "root asked for",
      own: { ...nonRoot, runAsUser: 0 },
      error: `container's runAsUser breaks non-root policy (pod: "web_ns(u1)", container: main)`,
    },
    {
      why: "an image that runs as root",
      pod: nonRoot,
      image: { uid: 0n },
      error: 'container has runAsNonRoot and image will run as root (pod: "web_ns(u1)", container: main)',
    },
    {
      why: "an image that names no user",
      pod: nonRoot,
      error: 'container has runAsNonRoot and image will run as root (pod: "web_ns(u1)", container: main)',
    },
    {
      why: "an image whose user has only a name",
      pod: nonRoot,
      image: { username: "app" },
      error:
        "container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root " +
        '(pod: "web_ns(u1)", container: main)',
    },
    {
      why: "an unknown groups policy",
      pod: { supplementalGroupsPolicy: "Odd" },
      error: "unsupported supplementalGroupsPolicy: Odd",
    },
  ])("refuses $why", ({ error, ...input }) => {
    expect(findSecurityError(make(input))).toBe(error);
  });
});

it("gives the container the groups of its pod's volumes, each that the pod does not ask for itself", () => {
  const input = make({ pod: { fsGroup: 100, supplementalGroups: [200] } });
  const { supplementalGroups } = buildContainerSecurityContext({ ...input, volumeGroups: [200n, 300n] });
  expect(supplementalGroups).toEqual([100n, 200n, 300n]);
});

describe("buildSandboxSecurityContext", () => {
  it.each<{ why: string; pod: Pod; privileged: boolean }>([
    { why: "no privileged container", pod: { spec: { containers: [{ name: "a" }] } }, privileged: false },
    {
      why: "a privileged init container",
      pod: {
        spec: { containers: [{ name: "a" }], initContainers: [{ name: "i", securityContext: { privileged: true } }] },
      },
      privileged: true,
    },
  ])("is privileged as its containers need: $why", ({ pod, privileged }) => {
    expect(buildSandboxSecurityContext(pod, {}).privileged).toBe(privileged);
  });

  it("takes user, groups and SELinux from the pod", () => {
    const securityContext = { runAsUser: 5, runAsGroup: 0, fsGroup: 7, seLinuxOptions: { type: "t" } };
    const pod = { spec: { containers: [], securityContext } };
    expect(buildSandboxSecurityContext(pod, { volumeGroups: [8n] })).toMatchObject({
      runAsUser: { value: 5n },
      runAsGroup: { value: 0n },
      supplementalGroups: [7n, 8n],
      selinuxOptions: { type: "t" },
    });
  });
});
