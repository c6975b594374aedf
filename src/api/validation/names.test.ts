import { describe, expect, it } from "vitest";
import {
  checkDns1035Label,
  checkLocalPath,
  checkPortName,
  checkQualifiedName,
  checkWildcardSubdomain,
  isIpAddress,
} from "./names.ts";

describe("isIpAddress", () => {
  it.each(["0.0.0.0", "10.9.8.7", "255.255.255.255", "::", "::1", "2001:db8::ffff", "::ffff:10.0.0.1"])(
    "%s is one",
    (text) => {
      expect(isIpAddress(text)).toBe(true);
    },
  );

  it.each([
    "",
    "1.2.3",
    "1.2.3.4.",
    "1.2.3.4.5",
    "01.2.3.4",
    "256.1.1.1",
    "1.2.3.4/24",
    "fe80::1%eth0",
    ":",
    "g::1",
    "[::1]",
    "localhost",
    "1:2",
    "0x7f.1",
  ])("%j is none", (text) => {
    expect(isIpAddress(text)).toBe(false);
  });
});

describe("checks", () => {
  it.each([
    ["a", 0],
    ["example.com/My_name.1", 0],
    ["/a", 1],
    ["UPPER.com/a", 1],
    ["a/b/c", 1],
    [`${"a".repeat(64)}`, 1],
    ["-a", 1],
  ])("qualified name %s has %i problems", (text, count) => {
    expect(checkQualifiedName(text)).toHaveLength(count);
  });

  it.each([
    ["web-1", 0],
    ["a".repeat(63), 0],
    ["1web", 1],
    ["a.b", 1],
    ["a".repeat(64), 1],
    ["ä".repeat(32), 2],
  ])("label of RFC 1035 %s has %i problems", (text, count) => {
    expect(checkDns1035Label(text)).toHaveLength(count);
  });

  it.each([
    ["*.example.com", 0],
    [`*.${"a".repeat(251)}`, 0],
    [`*.${"a".repeat(252)}`, 1],
    ["*.*.com", 1],
    ["a.*.com", 1],
  ])("wildcard %s has %i problems", (text, count) => {
    expect(checkWildcardSubdomain(text)).toHaveLength(count);
  });

  it.each([
    ["http", 0],
    ["80", 1],
    ["a--b", 1],
    ["-a", 1],
    ["A", 2],
  ])("port name %s has %i problems", (text, count) => {
    expect(checkPortName(text)).toHaveLength(count);
  });

  it.each([
    ["", 0],
    ["a/b", 0],
    ["a/..b", 0],
    ["/a", 1],
    ["a/..", 1],
    ["/..", 2],
  ])("local path %j has %i problems", (text, count) => {
    expect(checkLocalPath(text)).toHaveLength(count);
  });
});
