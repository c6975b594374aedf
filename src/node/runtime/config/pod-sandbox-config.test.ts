import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../api/gen/types.ts";
import { TEST_NODE } from "./__fixtures__/node.ts";
import { buildPodSandboxConfig, type PodSandboxConfigInput } from "./pod-sandbox-config.ts";

function build(spec: Partial<PodSpec>, overrides: Partial<PodSandboxConfigInput> = {}) {
  const pod: Pod = {
    metadata: { name: "web", namespace: "ns", uid: "u1" },
    spec: { containers: [{ name: "a" }], ...spec },
  };
  return buildPodSandboxConfig({ pod, attempt: 0, node: TEST_NODE, cgroupParent: "", ...overrides });
}

describe("buildPodSandboxConfig", () => {
  it("says whose sandbox it is, which attempt, and where its logs go", () => {
    expect(build({}, { attempt: 2, cgroupParent: "/kubepods/podu1" })).toMatchObject({
      ok: true,
      config: {
        metadata: { name: "web", namespace: "ns", uid: "u1", attempt: 2 },
        logDirectory: "/var/log/pods/ns_web_u1",
        linux: { cgroupParent: "/kubepods/podu1", resources: { unified: { "memory.oom.group": "1" } } },
      },
    });
  });

  it.each<{ why: string; spec: Partial<PodSpec>; hostname: string }>([
    { why: "the pod's name", spec: {}, hostname: "web" },
    {
      why: "the full name where asked",
      spec: { subdomain: "s", setHostnameAsFQDN: true },
      hostname: "web.s.ns.svc.cluster.local",
    },
    { why: "none on the host's network", spec: { hostNetwork: true }, hostname: "" },
  ])("hostname: $why", ({ spec, hostname }) => {
    expect(build(spec)).toMatchObject({ ok: true, config: { hostname } });
  });

  it("says sysctls with dots, as runtimes take them", () => {
    const sysctls = [
      { name: "net/ipv4/conf/eno2.100/rp_filter", value: "1" },
      { name: "kernel.shm_rmid_forced", value: "0" },
    ];
    expect(build({ securityContext: { sysctls } })).toMatchObject({
      config: { linux: { sysctls: { "net.ipv4.conf.eno2/100.rp_filter": "1", "kernel.shm_rmid_forced": "0" } } },
    });
  });

  it("hands on the warnings of DNS", () => {
    const built = build({ dnsPolicy: "ClusterFirst" }, { node: { ...TEST_NODE, clusterDns: [] } });
    expect(built).toMatchObject({ ok: true, warnings: [{ reason: "MissingClusterDNS" }] });
  });

  it("makes a user namespace from the range given", () => {
    const range = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
    const built = build({ hostUsers: false }, { userNamespace: { uids: range, gids: range } });
    expect(built).toMatchObject({
      config: { linux: { securityContext: { namespaceOptions: { usernsOptions: { uids: range } } } } },
    });
  });

  it.each<{ why: string; spec: Partial<PodSpec>; error: RegExp }>([
    { why: "a bad hostname", spec: { hostname: "a_b" }, error: /a_b/ },
    { why: "an unknown groups policy", spec: { securityContext: { supplementalGroupsPolicy: "Odd" } }, error: /Odd/ },
    { why: "a user namespace that the node cannot give", spec: { hostUsers: false }, error: /`spec.hostUsers: false`/ },
  ])("refuses $why", ({ spec, error }) => {
    expect(build(spec)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });
});
