import { describe, expect, it } from "vitest";
import { parseMountTable } from "../../host/linux/mounts/mount-table.ts";
import { computeMountsBeneath, findMountOf, isRootShared } from "./mount-info.ts";

const PRIVATE = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:4 mnt:[4026532300] /run/nodelet/mount-namespace rw - nsfs nsfs rw
41 27 0:40 / /run/nodelet/a\\040b rw shared:3 master:1 - tmpfs tmpfs rw
42 41 0:41 / /run/nodelet/a\\040b/c rw - overlay overlay rw
43 27 0:42 / /run/nodelet2 rw - tmpfs tmpfs rw
`;

describe("mountinfo", () => {
  const mounts = parseMountTable(PRIVATE);

  it("tells a private root from a shared one", () => {
    expect(isRootShared(mounts)).toBe(false);
    expect(isRootShared(parseMountTable("27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"))).toBe(true);
  });

  it("lists what is beneath a directory innermost first, and nothing of its neighbours", () => {
    expect(computeMountsBeneath(mounts, "/run/nodelet")).toEqual([
      "/run/nodelet/a b/c",
      "/run/nodelet/a b",
      "/run/nodelet/mount-namespace",
    ]);
  });

  it("does not list the file system that a directory has of its own", () => {
    expect(computeMountsBeneath(mounts, "/run/nodelet/a b")).toEqual(["/run/nodelet/a b/c"]);
  });

  it.each([
    ["/run/nodelet/a b/c/file", "overlay"],
    ["/run/nodelet/a bc", "ext4"],
    ["/", "ext4"],
  ])("finds the mount that %s lies in", (path, fileSystem) => {
    expect(findMountOf(mounts, path)?.type).toBe(fileSystem);
  });
});
