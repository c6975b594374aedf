import { describe, expect, it } from "vitest";
import type { DoctorFacts } from "./doctor-facts.ts";
import { judgeMachine } from "./judge-machine.ts";
import type { RuntimeWord } from "./runtime-word.ts";

const GIB = 1024 ** 3;

const good: DoctorFacts = {
  uid: 0,
  kernelRelease: "6.1.0",
  namespaces: ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"],
  maxUserNamespaces: 1000,
  cgroup: { version: 2, controllers: ["cpuset", "cpu", "io", "memory", "pids"] },
  inotify: { limit: 8192, used: 20 },
  overlayWorks: true,
  containerd: "containerd github.com/containerd/containerd/v2 2.1.9+unknown",
  runc: "runc version 1.3.6",
  runtimeWord: {
    endpoint: "unix:///run/containerd/containerd.sock",
    version: "containerd 2.1.9+unknown",
    userNamespaces: true,
    recursiveReadOnlyMounts: true,
    supplementalGroupsPolicy: true,
  },
  iptables: "iptables v1.8.9 (nf_tables)",
  nft: "nftables v1.0.6 (Lester Gooch #5)",
  nftProblem: undefined,
  missingPrograms: [],
  busybox: true,
  cniBinDirectory: "/usr/lib/cni",
  swapBytes: 0,
  hasSysResource: true,
  isRootShared: true,
  ipForward: true,
  bridgeCallsIptables: true,
  forwardPolicy: "ACCEPT",
  inputPolicy: "ACCEPT",
  foreignFirewalls: [],
  portsTaken: [],
  disk: { path: "/var/lib", availableBytes: 50 * GIB, totalBytes: 100 * GIB },
  runningPid: undefined,
};

const V1 = { version: 1, controllers: good.cgroup.controllers } as const;

const withWord = (changes: Partial<RuntimeWord>) => ({
  runtimeWord: good.runtimeWord && { ...good.runtimeWord, ...changes },
});

const withFirewall = (hook: "forward" | "input") => ({
  foreignFirewalls: [{ table: "inet filter", chain: hook, hook }],
});

describe("judgeMachine", () => {
  it("finds nothing to say about a good machine", () => {
    const findings = judgeMachine(good);
    expect(findings.filter(({ level, meaning, mend }) => level !== "ok" || meaning || mend)).toEqual([]);
  });

  const cases: Array<[string, Partial<DoctorFacts>, string, "warn" | "fail"]> = [
    ["no root", { uid: 1000 }, "root", "fail"],
    ["no network namespaces", { namespaces: ["mnt", "pid", "ipc", "uts", "user"] }, "namespaces", "fail"],
    ["few inotify instances left", { inotify: { limit: 128, used: 120 } }, "inotify", "fail"],
    ["inotify instances for few containers", { inotify: { limit: 128, used: 20 } }, "inotify", "warn"],
    ["a runtime without user namespaces", withWord({ userNamespaces: false }), "user namespaces", "warn"],
    ["mounts that are not all read-only", withWord({ recursiveReadOnlyMounts: false }), "runtime features", "warn"],
    [
      "groups of the image that cannot be kept out",
      withWord({ supplementalGroupsPolicy: false }),
      "runtime features",
      "warn",
    ],
    ["user namespaces forbidden", { maxUserNamespaces: 0 }, "user namespaces", "warn"],
    ["no cgroups", { cgroup: { version: undefined, controllers: [] } }, "cgroups", "fail"],
    ["no controller of processes", { cgroup: { version: 2, controllers: ["cpu", "cpuset"] } }, "cgroups", "fail"],
    ["no memory controller", { cgroup: { version: 2, controllers: ["cpu", "cpuset", "pids"] } }, "cgroups", "warn"],
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
    ["no nft", { nft: undefined }, "nftables", "fail"],
    [
      "an nft without its part of the kernel",
      { nftProblem: "nft list tables: Protocol not supported" },
      "nftables",
      "fail",
    ],
    ["no ip", { missingPrograms: ["ip", "conntrack"] }, "other programs", "fail"],
    ["no conntrack", { missingPrograms: ["conntrack"] }, "other programs", "warn"],
    ["a taken port of the API", { portsTaken: [6443] }, "ports", "warn"],
    ["no busybox", { busybox: false }, "busybox", "warn"],
    ["no CAP_SYS_RESOURCE", { hasSysResource: false }, "CAP_SYS_RESOURCE", "warn"],
    ["swap", { swapBytes: GIB }, "swap", "warn"],
    ["a firewall that drops", withFirewall("forward"), "forwarding policy", "warn"],
    ["a firewall of nftables that lets nobody in", withFirewall("input"), "input policy", "warn"],
    ["a firewall that lets nobody in", { inputPolicy: "DROP" }, "input policy", "warn"],
    ["a taken port", { portsTaken: [10_248] }, "ports", "warn"],
    ["little disk", { disk: { path: "/", availableBytes: 5 * GIB, totalBytes: 100 * GIB } }, "disk space", "warn"],
    ["no disk", { disk: { path: "/", availableBytes: 1024, totalBytes: 100 * GIB } }, "disk space", "fail"],
  ];

  it.each(cases)("says what %s means and how to mend it", (_, facts, check, level) => {
    const findings = judgeMachine({ ...good, ...facts }).filter((finding) => finding.level !== "ok");
    expect(findings).toMatchObject([{ check, level, meaning: expect.any(String), mend: expect.any(String) }]);
  });

  const accepted: Array<[string, Partial<DoctorFacts>]> = [
    ["a policy of iptables, for which there are rules", { forwardPolicy: "DROP" }],
    ["few inotify instances where containers take none", { inotify: { limit: 128, used: 20 }, cgroup: V1 }],
    ["a private root", { isRootShared: false }],
    ["no br_netfilter", { bridgeCallsIptables: undefined }],
    ["forwarding that is still off", { ipForward: false }],
    ["ports that our own agent has", { portsTaken: [10_248], runningPid: 7 }],
    ["a runtime that does not run", { runtimeWord: undefined }],
  ];

  it.each(accepted)("accepts %s", (_, facts) => {
    expect(judgeMachine({ ...good, ...facts }).every(({ level }) => level === "ok")).toBe(true);
  });
});

describe("what only newer runtimes do", () => {
  const OLD = "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3";
  const oldWord = withWord({
    version: "containerd 1.6.20~ds1",
    userNamespaces: false,
    recursiveReadOnlyMounts: false,
    supplementalGroupsPolicy: false,
  });
  const cases: Array<[string, Partial<DoctorFacts>, string, string, string | undefined]> = [
    ["given", {}, "user namespaces", "given by containerd 2.1.9+unknown", undefined],
    [
      "of a runtime that cannot",
      { containerd: OLD, ...oldWord },
      "user namespaces",
      "the kernel has them, containerd 1.6.20~ds1 does not give them to pods",
      "install containerd 2.0 or newer, and runc 1.2 or newer",
    ],
    [
      "of an old runc",
      withWord({ userNamespaces: false }),
      "user namespaces",
      "the kernel has them, containerd 2.1.9+unknown does not give them to pods",
      "install runc 1.2 or newer",
    ],
    [
      "of an old containerd that does not run",
      { containerd: OLD, runtimeWord: undefined },
      "user namespaces",
      "the kernel has them, containerd 1.6.20~ds1 does not give them to pods",
      "install containerd 2.0 or newer, and runc 1.2 or newer",
    ],
    [
      "of a containerd that does not run",
      { runtimeWord: undefined },
      "user namespaces",
      "the kernel has them; no runtime runs that could be asked",
      undefined,
    ],
    [
      "of another runtime, which runs",
      { containerd: OLD, ...withWord({ version: "cri-o 1.31.0" }) },
      "user namespaces",
      "given by cri-o 1.31.0",
      undefined,
    ],
    [
      "both",
      { containerd: OLD, ...oldWord },
      "runtime features",
      "containerd 1.6.20~ds1 lacks recursiveReadOnly: Enabled and supplementalGroupsPolicy: Strict",
      "install containerd 2.0 or newer",
    ],
    [
      "both, of an old containerd that does not run",
      { containerd: OLD, runtimeWord: undefined },
      "runtime features",
      "containerd 1.6.20~ds1 lacks recursiveReadOnly: Enabled and supplementalGroupsPolicy: Strict",
      "install containerd 2.0 or newer",
    ],
    [
      "mounts alone",
      withWord({ recursiveReadOnlyMounts: false }),
      "runtime features",
      "containerd 2.1.9+unknown lacks recursiveReadOnly: Enabled",
      "use Linux 5.12 or newer, runc 1.1 or newer and the shim that comes with containerd",
    ],
  ];
  it.each(cases)("%s: is told with what to do about it", (_, facts, check, found, mend) => {
    expect(judgeMachine({ ...good, ...facts })).toContainEqual(
      expect.objectContaining({ check, found, level: mend === undefined ? "ok" : "warn", ...(mend && { mend }) }),
    );
  });
});
