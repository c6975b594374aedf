import { expect, it } from "vitest";
import type { MountEntry } from "../../../../host/mounts-port.ts";
import { findMountedDevice } from "./mounted-device.ts";

const mount = (path: string, source: string): MountEntry => {
  return {
    id: 1,
    parentId: 0,
    device: "8:1",
    root: "/",
    path,
    type: "ext4",
    source,
    options: [],
    propagation: "private",
  };
};
const entries = [mount("/", "/dev/sda1"), mount("/var/lib", "/dev/sdb1"), mount("/var/lib", "/dev/sdc1")];

it.each([
  ["/", "/dev/sda1"],
  ["/var/library", "/dev/sda1"],
  ["/var/lib", "/dev/sdc1"],
  ["/var/lib/containerd", "/dev/sdc1"],
])("finds what %s is on: %s", (path, source) => {
  expect(findMountedDevice(entries, path)).toEqual({ name: source, numbers: "8:1" });
});

it("finds nothing without mounts", () => {
  expect(findMountedDevice([], "/var")).toEqual({ name: "", numbers: "" });
});
