import { expect, it } from "vitest";
import type { Container } from "../../../api/gen/types.ts";
import { buildSystemMounts, podHostsPath, type SystemFiles, terminationLogPath } from "./system-mounts.ts";

const FILES: SystemFiles = {
  hosts: podHostsPath("/root", "u1"),
  terminationLog: terminationLogPath("/root", "u1", { name: "main", instance: "0a1b" }),
};
const HOSTS = { containerPath: "/etc/hosts", hostPath: "/root/pods/u1/etc-hosts" };
const LOG = { containerPath: "/dev/t", hostPath: "/root/pods/u1/containers/main/0a1b" };
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
    why: "no termination log without a path",
    of: container({ terminationMessagePath: "" }),
    files: FILES,
    expected: [HOSTS],
  },
  { why: "or without a file", of: container(), files: { ...FILES, terminationLog: undefined }, expected: [HOSTS] },
])("$why", ({ of, files, expected }) => {
  expect(buildSystemMounts(of, files)).toEqual(expected);
});
