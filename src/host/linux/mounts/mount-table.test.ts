import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseMountTable } from "./mount-table.ts";

describe("mount table", () => {
  it.each([
    [
      "a shared mount of a disk",
      "27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro",
      {
        id: 27,
        parentId: 1,
        device: "8:1",
        root: "/",
        path: "/",
        type: "ext4",
        source: "/dev/sda1",
        options: ["rw", "relatime", "errors=remount-ro"],
        propagation: "shared",
        peerGroup: 1,
      },
    ],
    [
      "a private one without optional fields, and options of the file system that differ from the mount's",
      "90 27 0:45 /sub /mnt/x ro,nosuid - tmpfs tmpfs rw,size=1024k",
      {
        id: 90,
        parentId: 27,
        device: "0:45",
        root: "/sub",
        path: "/mnt/x",
        type: "tmpfs",
        source: "tmpfs",
        options: ["ro", "nosuid", "rw", "size=1024k"],
        propagation: "private",
      },
    ],
    [
      "a slave that is shared on",
      "91 27 0:46 / /a rw shared:7 master:3 propagate_from:2 - nfs4 server:/export rw,vers=4.2",
      { propagation: "shared", peerGroup: 7, source: "server:/export" },
    ],
    ["a slave", "92 27 0:47 / /b rw master:3 - tmpfs none rw", { propagation: "slave", source: "none" }],
    ["an unbindable one", "93 27 0:48 / /c rw unbindable - tmpfs none rw", { propagation: "private" }],
    [
      "names with characters that the kernel escapes",
      "94 27 0:49 /a\\040b /c\\011d\\012e\\134040f\\043 rw - fuse.x user\\040host:/ rw",
      { root: "/a b", path: "/c\td\ne\\040f#", source: "user host:/", type: "fuse.x" },
    ],
    ["a dash as a source", "95 27 0:50 / /d rw - tmpfs - rw", { source: "-", type: "tmpfs" }],
    ["an empty source", "96 27 0:51 / /e rw - tmpfs  rw", { source: "", type: "tmpfs", path: "/e" }],
  ])("reads %s", (_what, line, expected) => {
    const [entry, ...more] = parseMountTable(`${line}\n`);
    expect(more).toEqual([]);
    if ("id" in expected) expect(entry).toEqual(expected);
    else expect(entry).toMatchObject(expected);
  });

  it("passes over what is no line of it", () => {
    expect(parseMountTable("")).toEqual([]);
    expect(parseMountTable("\n\nnonsense\n1 2 3:4 / / rw\n")).toEqual([]);
  });

  it("gives back any path that the kernel may write", () => {
    const write = (path: string) =>
      path.replace(/[ \t\n\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
    const unit = fc.constantFrom(..." \t\n\\#0134-ü/a");
    fc.assert(
      fc.property(fc.string({ unit }), (name) => {
        const path = `/${name}`;
        const [entry] = parseMountTable(`1 0 0:1 / ${write(path)} rw - tmpfs none rw\n`);
        expect(entry?.path).toBe(path);
      }),
    );
  });
});
