import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkNonSpecial, contains, formatIpAddress, isSameAddress, parseCidr, parseIpAddress } from "./ip-address.ts";

describe("addresses", () => {
  it("survive being numbers", () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        expect(formatIpAddress(parseIpAddress(text) ?? -1n, "IPv4")).toBe(text);
      }),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (number) => {
        expect(parseIpAddress(formatIpAddress(number, "IPv6"))).toBe(number);
      }),
    );
  });

  it.each([
    ["::1", 1n],
    ["::", 0n],
    ["1::", 1n << 112n],
    ["::ffff:10.0.0.1", 0xffff_0a00_0001n],
    ["10.0.0", undefined],
    ["010.0.0.1", undefined],
  ])("%s is %s", (text, value) => {
    expect(parseIpAddress(text)).toBe(value);
  });

  it("are the same in two spellings", () => {
    expect(isSameAddress("fd00::1", "FD00:0:0:0:0:0:0:1")).toBe(true);
    expect(isSameAddress("0.0.0.1", "::1")).toBe(false);
  });

  it.each([
    ["10.96.0.0/12", true],
    ["10.96.0.5/12", true],
    ["fd00::/64", true],
    ["10.0.0.0", false],
    ["10.0.0.0/33", false],
    ["10.0.0.0/08", false],
    ["10.0.0.0/8/8", false],
  ])("%s is a range: %s", (text, isRange) => {
    expect(parseCidr(text) !== undefined).toBe(isRange);
  });

  it.each([
    ["10.96.0.0/12", "10.111.255.255", true],
    ["10.96.0.0/12", "10.112.0.0", false],
    ["10.96.0.0/12", "fd00::1", false],
    ["fd00::/64", "fd00::ffff", true],
  ])("%s contains %s: %s", (range, address, isContained) => {
    expect(contains(range, address)).toBe(isContained);
  });

  it.each([
    ["10.0.0.1", []],
    ["::", ["may not be unspecified (::)"]],
    ["::1", ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]],
    ["fe80::1", ["may not be in the link-local range (169.254.0.0/16, fe80::/10)"]],
    ["224.0.0.9", ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]],
  ])("%s is reachable but for %j", (address, problems) => {
    expect(checkNonSpecial(address)).toEqual(problems);
  });
});
