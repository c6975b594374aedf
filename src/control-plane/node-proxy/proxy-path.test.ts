import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanPath } from "./proxy-path.ts";

describe("the path of a proxied request", () => {
  it.each([
    ["", ""],
    ["/", "/"],
    ["//", "/"],
    ["/a/b", "/a/b"],
    ["/a/b/", "/a/b/"],
    ["/a//b", "/a/b"],
    ["/a/./b", "/a/b"],
    ["/a/../b", "/b"],
    ["/../../b/", "/b/"],
    ["/a/%2e%2E/b", "/b"],
    ["/a/.%2e/b", "/b"],
    ["/a/...", "/a/..."],
    ["/a%2Fb/c%20d", "/a%2Fb/c%20d"],
  ])("%j is %j", (path, cleaned) => expect(cleanPath(path)).toBe(cleaned));

  it("never leads up, and is clean once it was cleaned", () => {
    const part = fc.constantFrom("", ".", "..", "%2e%2e", "a", "%2F", "b c");
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const cleaned = cleanPath(parts.map((text) => `/${text}`).join(""));
        expect(cleanPath(cleaned)).toBe(cleaned);
        expect(cleaned.split("/")).not.toContain("..");
      }),
    );
  });
});
