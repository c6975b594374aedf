import { describe, expect, it } from "vitest";
import { findDefaultInterface, findDefaultInterface6 } from "./default-route.ts";

const HEADER = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT";
const route = (name: string, destination: string, options: { flags?: string; metric?: number; mask?: string } = {}) => {
  const { flags = "0003", metric = 0, mask = "00000000" } = options;
  return [name, destination, "0101A8C0", flags, 0, 0, metric, mask, 0, 0, 0].join("\t");
};

describe("default interface", () => {
  it.each([
    ["an empty file", "", undefined],
    [
      "no default route",
      [HEADER, route("eth0", "0001A8C0", { flags: "0001", mask: "00FFFFFF" })].join("\n"),
      undefined,
    ],
    ["one default route", [HEADER, route("eth0", "00000000"), ""].join("\n"), "eth0"],
    [
      "the lowest metric",
      [HEADER, route("wlan0", "00000000", { metric: 600 }), route("eth0", "00000000", { metric: 100 })].join("\n"),
      "eth0",
    ],
    ["a route that is down", [HEADER, route("eth0", "00000000", { flags: "0002" })].join("\n"), undefined],
    [
      "half of everything, as VPNs route",
      [HEADER, route("tun0", "00000000", { mask: "00000080" })].join("\n"),
      undefined,
    ],
  ])("IPv4: %s", (_what, text, expected) => {
    expect(findDefaultInterface(text)).toBe(expected);
  });

  const zero = "0".repeat(32);
  const route6 = (name: string, flags: string, metric: string, prefix = "00") =>
    `${zero} ${prefix} ${zero} 00 fe800000000000000000000000000001 ${metric} 00000000 00000000 ${flags}     ${name}`;
  it.each([
    ["nothing", "", undefined],
    ["only the reject route of lo", route6("lo", "00200200", "ffffffff"), undefined],
    [
      "the lowest metric",
      [route6("wlan0", "00000003", "00000400"), route6("eth0", "00000003", "00000064")].join("\n"),
      "eth0",
    ],
    ["no default", route6("eth0", "00000003", "00000064", "40"), undefined],
  ])("IPv6: %s", (_what, text, expected) => {
    expect(findDefaultInterface6(text)).toBe(expected);
  });
});
