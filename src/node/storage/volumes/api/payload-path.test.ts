import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanPayloadPath, refuseConflicts } from "./payload-path.ts";

describe("a path of a file in a volume", () => {
  it.each([
    ["token", "token"],
    ["a/b", "a/b"],
    ["a//b/./c/", "a/b/c"],
    ["./a", "a"],
    [".hidden", ".hidden"],
    ["a/..b", "a/..b"],
    ["...", undefined],
    [`${"x".repeat(255)}/${"y".repeat(255)}`, `${"x".repeat(255)}/${"y".repeat(255)}`],
  ])("%s is clean as %s", (path, clean) => {
    if (clean === undefined) expect(() => cleanPayloadPath(path)).toThrow("invalid path");
    else expect(cleanPayloadPath(path)).toBe(clean);
  });

  it.each([
    ["", 'invalid path: must not be empty: ""'],
    ["/etc/passwd", "invalid path: must be relative path: /etc/passwd"],
    ["..", "invalid path: must not contain '..': .."],
    ["a/../../b", "invalid path: must not contain '..': a/../../b"],
    ["..data", "invalid path: must not start with '..': ..data"],
    ["./..data/x", "invalid path: must not start with '..': ./..data/x"],
    [".", 'invalid path: names no file: "."'],
    ["a\0b", 'invalid path: names no file: "a\\u0000b"'],
    ["é".repeat(128), "invalid path: filenames must be less than or equal to 255 characters"],
    ["a/".repeat(2049), "invalid path: must be less than or equal to 4096 characters"],
  ])("%j is refused", (path, message) => {
    expect(() => cleanPayloadPath(path)).toThrow(message);
  });

  it("leads to a place in the volume that is not one of its own, or is refused", () => {
    const name = fc.constantFrom("", ".", "..", "a", "..data", "b.c", "..2026_01_01_00_00_00.000");
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), (names) => {
        let clean: string;
        try {
          clean = cleanPayloadPath(names.join("/"));
        } catch {
          return;
        }
        const parts = clean.split("/");
        expect(parts.every((part) => part !== "" && part !== "." && part !== "..")).toBe(true);
        expect(parts[0]?.startsWith("..")).toBe(false);
      }),
    );
  });
});

it.each([
  [["a", "a/b"], 'conflicting paths: "a" is a file, and so is "a/b"'],
  [["x", "a/b/c/d", "a/b"], 'conflicting paths: "a/b" is a file, and so is "a/b/c/d"'],
])("a file cannot be a directory too: %j", (paths, message) => {
  expect(() => refuseConflicts(new Set(paths))).toThrow(message);
});

it("files of one directory, and names that only begin alike, do not conflict", () => {
  refuseConflicts(new Set(["a/b", "a/c", "ab", "a.b", "a-b/c"]));
});
