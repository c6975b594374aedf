import { expect, test } from "vitest";
import { addressRanges, ipv4FirstRanges } from "./address-ranges.ts";

test.each([
  ["10.64.0.0/16", "10.64.0.0/16"],
  ["10.64.3.9/16", "10.64.0.0/16"],
  ["10.96.0.0/16, fd00:10:96::/112", "10.96.0.0/16,fd00:10:96::/112"],
  ["FD00::1/64,10.96.0.0/30", "fd00::/64,10.96.0.0/30"],
])("%s is ranges of addresses", (text, expected) => {
  expect(addressRanges(text)).toBe(expected);
});

test.each([
  ["10.64.0.0", "is no range"],
  ["10.64.0.0/33", "is no range"],
  ["", "is no range"],
  ["10.64.0.0/31", "/8 to /30"],
  ["0.0.0.0/0", "/8 to /30"],
  ["fd00::/32", "/48 to /126"],
  ["10.0.0.0/16,10.1.0.0/16", "an IPv4 and an IPv6 range"],
  ["10.0.0.0/16,fd00::/64,10.1.0.0/16", "an IPv4 and an IPv6 range"],
])("%s is refused", (text, message) => {
  expect(() => addressRanges(text)).toThrow(message);
});

test("the bridge's range begins with IPv4", () => {
  expect(ipv4FirstRanges("10.64.0.0/16,fd00::/112")).toBe("10.64.0.0/16,fd00::/112");
  expect(() => ipv4FirstRanges("fd00::/112,10.64.0.0/16")).toThrow("must be an IPv4 range");
});
