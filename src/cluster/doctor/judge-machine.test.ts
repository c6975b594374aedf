import { describe, expect, it } from "vitest";
import { judgeMachine } from "./judge-machine.ts";
import type { MachineFacts } from "./machine-facts.ts";

const GIB = 1024 ** 3;

const good: MachineFacts = {
  uid: 0,
  kernelRelease: "6.1.0",
  namespaces: ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"],
  maxUserNamespaces: 1000,
  cgroup: { version: 2, controllers: ["cpuset", "cpu", "io", "memory", "pids"] },
  overlayWorks: true,
  containerd: "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3",
  runc: "runc version 1.1.5+ds1",
  iptables: "iptables v1.8.9 (nf_tables)",
  busybox: true,
  cniBinDirectory: "/usr/lib/cni",
  swapBytes: 0,
  hasSysResource: true,
  isRootShared: true,
  ipForward: true,
  bridgeCallsIptables: true,
  forwardPolicy: "ACCEPT",
  portsTaken: [],
  disk: { path: "/var/lib", availableBytes: 50 * GIB, totalBytes: 100 * GIB },
  runningPid: undefined,
};

describe("judgeMachine", () => {
  it("finds nothing to say about a good machine", () => {
    const findings = judgeMachine(good);
    expect(findings.filter(({ level, meaning, mend }) => level !== "ok" || meaning || mend)).toEqual([]);
  });

  const cases: Array<[string, Partial<MachineFacts>, string, "warn" | "fail"]> = [
    ["no root", { uid: 1000 }, "root", "fail"],
    ["no network namespaces", { namespaces: ["mnt", "pid", "ipc", "uts", "user"] }, "namespaces", "fail"],
    ["user namespaces forbidden", { maxUserNamespaces: 0 }, "user namespaces", "warn"],
    ["no cgroups", { cgroup: { version: undefined, controllers: [] } }, "cgroups", "fail"],
    ["no memory controller", { cgroup: { version: 1, controllers: ["cpu", "cpuset", "pids"] } }, "cgroups", "fail"],
    ["overlayfs that does not mount", { overlayWorks: false }, "overlayfs", "warn"],
    ["overlayfs that was not tried", { overlayWorks: undefined }, "overlayfs", "warn"],
    ["no containerd", { containerd: undefined }, "containerd", "fail"],
    [
      "a containerd without CRI v1",
      { containerd: "containerd github.com/containerd/containerd 1.4.13~ds1" },
      "containerd",
      "fail",
    ],
    ["something else named containerd", { containerd: "hello" }, "containerd", "fail"],
    ["no runc", { runc: undefined }, "runc", "fail"],
    ["no CNI plugins", { cniBinDirectory: undefined }, "CNI plugins", "fail"],
    ["no iptables", { iptables: undefined }, "iptables", "fail"],
    ["no busybox", { busybox: false }, "busybox", "warn"],
    ["no CAP_SYS_RESOURCE", { hasSysResource: false }, "CAP_SYS_RESOURCE", "warn"],
    ["swap", { swapBytes: GIB }, "swap", "warn"],
    ["a firewall that drops", { forwardPolicy: "DROP" }, "forwarding policy", "warn"],
    ["a taken port", { portsTaken: [10_248] }, "ports", "warn"],
    ["little disk", { disk: { path: "/", availableBytes: 5 * GIB, totalBytes: 100 * GIB } }, "disk space", "warn"],
    ["no disk", { disk: { path: "/", availableBytes: 1024, totalBytes: 100 * GIB } }, "disk space", "fail"],
  ];

  it.each(cases)("says what %s means and how to mend it", (_, facts, check, level) => {
    const findings = judgeMachine({ ...good, ...facts }).filter((finding) => finding.level !== "ok");
    expect(findings).toMatchObject([{ check, level, meaning: expect.any(String), mend: expect.any(String) }]);
  });

  const accepted: Array<[string, Partial<MachineFacts>]> = [
    ["a private root", { isRootShared: false }],
    ["no br_netfilter", { bridgeCallsIptables: undefined }],
    ["forwarding that is still off", { ipForward: false }],
    ["ports that our own agent has", { portsTaken: [10_248], runningPid: 7 }],
    ["containerd 2", { containerd: "containerd github.com/containerd/containerd/v2 2.1.9+unknown" }],
  ];

  it.each(accepted)("accepts %s", (_, facts) => {
    expect(judgeMachine({ ...good, ...facts }).every(({ level }) => level === "ok")).toBe(true);
  });
});
