import { expect, it } from "vitest";
import { findRangeClashes } from "./range-clashes.ts";

const RANGES = { podCidr: "10.64.0.0/16,fd64::/64", serviceCidr: "10.96.0.0/16", bridge: "nodelet0" };
const DEFAULT = { dst: "default", gateway: "192.0.2.1", dev: "eth0" };
const clashesOf = (...routes: unknown[]) => findRangeClashes(JSON.stringify([DEFAULT, ...routes]), RANGES);

it.each([
  ["a network in the range of pods", { dst: "10.64.5.0/24", dev: "eth0" }, "--pod-cidr", "10.64.0.0/16"],
  ["the same range", { dst: "10.96.0.0/16", dev: "tun0" }, "--service-cidr", "10.96.0.0/16"],
  ["a machine in it", { dst: "10.96.0.10", dev: "tun0" }, "--service-cidr", "10.96.0.0/16"],
  ["a network of IPv6", { dst: "fd64::/80", dev: "eth0" }, "--pod-cidr", "fd64::/64"],
])("finds %s", (_what, route, flag, range) => {
  expect(clashesOf(route)).toEqual([{ flag, range, network: route.dst, device: route.dev }]);
});

it.each([
  ["the network of the pods' own bridge", { dst: "10.64.0.0/16", dev: "nodelet0" }],
  ["another network", { dst: "192.0.2.0/24", dev: "eth0" }],
  ["a wider one", { dst: "10.0.0.0/8", dev: "tun0" }],
  ["a route to nowhere", { dst: "10.64.9.0/24", type: "unreachable" }],
  ["garbage", { dst: "10.64.x/99", dev: "eth0" }],
  ["what is no route", null],
])("passes over %s", (_what, route) => {
  expect(clashesOf(route)).toEqual([]);
});

it("passes over what is no list", () => {
  expect(["", "{}", "Error"].flatMap((printed) => findRangeClashes(printed, RANGES))).toEqual([]);
});
