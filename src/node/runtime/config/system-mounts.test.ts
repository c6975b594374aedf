import { expect, it } from "vitest";
import type { Container } from "../../../api/gen/types.ts";
import {
  buildSystemMounts,
  podHostsPath,
  podStoragePaths,
  restartCountOf,
  type SystemFiles,
  terminationLogDirectory,
  terminationLogName,
} from "./system-mounts.ts";

const FILES: SystemFiles = {
  hosts: podHostsPath("/root", "u1"),
  terminationLog: `${terminationLogDirectory("/root", "u1", "main")}/0a1b`,
  seLinuxEnabled: false,
};
const HOSTS = { containerPath: "/etc/hosts", hostPath: "/root/pods/u1/etc-hosts", selinuxRelabel: false };
const LOG = { containerPath: "/dev/t", hostPath: "/root/pods/u1/containers/main/0a1b", selinuxRelabel: false };
const container = (more: Partial<Container> = {}): Container => ({
  name: "main",
  terminationMessagePath: "/dev/t",
  ...more,
});

it.each([
  { why: "both by default", of: container(), files: FILES, expected: [HOSTS, LOG] },
  {
    why: "no hosts file before there is an address",
    of: container(),
    files: { ...FILES, hosts: undefined },
    expected: [LOG],
  },
  {
    why: "no hosts file over the container's own",
    of: container({ volumeMounts: [{ name: "v", mountPath: "/etc/hosts" }] }),
    files: FILES,
    expected: [LOG],
  },
  {
    why: "nor where it leaves the first slash out",
    of: container({ volumeMounts: [{ name: "v", mountPath: "etc/hosts" }] }),
    files: FILES,
    expected: [LOG],
  },
  {
    why: "no termination log without a path",
    of: container({ terminationMessagePath: "" }),
    files: FILES,
    expected: [HOSTS],
  },
  { why: "or without a file", of: container(), files: { ...FILES, terminationLog: undefined }, expected: [HOSTS] },
])("$why", ({ of, files, expected }) => {
  expect(buildSystemMounts(of, files)).toEqual(expected);
});

it("what a container can write outside of its volumes is among the pod's storage (CVE-2020-8557)", () => {
  const paths = Object.values(podStoragePaths("/root", "u1"));
  for (const { hostPath } of buildSystemMounts(container(), FILES)) {
    expect(paths.filter((path) => hostPath === path || hostPath.startsWith(`${path}/`))).toHaveLength(1);
  }
});

it("termination logs tell which start they are of", () => {
  for (const count of [0, 1, 15, 16, 4_000_000_000]) expect(restartCountOf(terminationLogName(count))).toBe(count);
  expect(terminationLogName(10)).toBe("0000000a");
  for (const name of ["", "1", "0000000A", "000000000", "0000000g", "../00000"]) {
    expect(restartCountOf(name)).toBeUndefined();
  }
});
