import { expect, it } from "vitest";
import { statusInput } from "./__fixtures__/status-input.ts";
import { computeNodeAddresses, computeProvidedNodeIp, type NodeAddressesInput } from "./node-addresses.ts";

const verdictOf = (changes: Partial<NodeAddressesInput>) =>
  computeNodeAddresses({ ...statusInput(), previous: [], ...changes });
const internal = (address: string) => ({ type: "InternalIP", address });
const hostname = { type: "Hostname", address: "node-1" };
const FALLBACK = [internal("10.64.0.1"), hostname];

it.each<[string, Partial<NodeAddressesInput>, object[]]>([
  ["the machine's, IPv4 first", {}, [internal("192.0.2.10"), hostname]],
  ["IPv6 where there is no other", { machineAddresses: ["2001:db8::10"] }, [internal("2001:db8::10"), hostname]],
  ["IPv6 where it is preferred", { nodeIps: ["::"] }, [internal("2001:db8::10"), hostname]],
  ["IPv4 where it is preferred", { nodeIps: ["0.0.0.0"] }, [internal("192.0.2.10"), hostname]],
  ["the configured one", { nodeIps: ["192.0.2.11"] }, [internal("192.0.2.11"), hostname]],
  [
    "the configured ones in their order",
    { nodeIps: ["2001:DB8::10", "192.0.2.11"] },
    [internal("2001:db8::10"), internal("192.0.2.11"), hostname],
  ],
  [
    "a node name that is one",
    { nodeName: "198.51.100.7" },
    [internal("198.51.100.7"), { ...hostname, address: "198.51.100.7" }],
  ],
  ["the fallback where there is no default route", { machineAddresses: [], fallbackIp: "10.64.0.1" }, FALLBACK],
  [
    "the fallback for as long as there is no default route",
    { machineAddresses: [], fallbackIp: "10.64.0.1", previous: FALLBACK },
    FALLBACK,
  ],
  ["the machine's rather than the fallback", { fallbackIp: "10.64.0.1" }, [internal("192.0.2.10"), hostname]],
  ["no guess where a cloud knows", { isCloudExternal: true }, [hostname]],
  [
    "the configured one until the cloud knows",
    { isCloudExternal: true, nodeIps: ["192.0.2.11"] },
    [internal("192.0.2.11"), hostname],
  ],
  [
    "the cloud's once it knows",
    { isCloudExternal: true, nodeIps: ["192.0.2.11"], previous: [{ type: "ExternalIP", address: "203.0.113.1" }] },
    [{ type: "ExternalIP", address: "203.0.113.1" }],
  ],
])("tells %s", (_what, changes, expected) => {
  expect(verdictOf(changes)).toEqual({ addresses: expected, problem: undefined });
});

it.each([
  ["127.0.0.2", "nodeIP can't be loopback address"],
  ["::1", "nodeIP can't be loopback address"],
  ["224.0.0.1", "nodeIP can't be a multicast address"],
  ["ff02::1", "nodeIP can't be a multicast address"],
  ["169.254.1.1", "nodeIP can't be a link-local unicast address"],
  ["FE80::1", "nodeIP can't be a link-local unicast address"],
  ["198.51.100.7", 'node IP: "198.51.100.7" not found in the host\'s network interfaces'],
])("refuses %s and tells what it told before", (address, fault) => {
  const previous = [internal("192.0.2.10")];
  expect(verdictOf({ nodeIps: [address], previous })).toEqual({
    addresses: previous,
    problem: `failed to validate nodeIP: ${fault}`,
  });
});

it("tells the address that it had rather than the fallback while the default route is away", () => {
  const previous = [internal("192.0.2.10"), hostname];
  const { addresses, problem } = verdictOf({ machineAddresses: [], fallbackIp: "10.64.0.1", previous });
  expect(addresses).toEqual(previous);
  expect(problem).toMatch(/no default routes found/);
});

it("says which of two addresses is wrong", () => {
  expect(verdictOf({ nodeIps: ["192.0.2.11", "2001:db8::99"] }).problem).toMatch(
    /^failed to validate secondaryNodeIP: /,
  );
});

it("says so when there is no address at all", () => {
  expect(verdictOf({ machineAddresses: [] })).toEqual({
    addresses: [],
    problem: expect.stringMatching(/^can't get ip address of node node-1\. error: /),
  });
});

it.each([
  [["192.0.2.11"], true, "192.0.2.11"],
  [["2001:DB8::1", "192.0.2.11"], true, "2001:db8::1,192.0.2.11"],
  [["::"], true, undefined],
  [[], true, undefined],
  [["192.0.2.11"], false, undefined],
])("gives a cloud controller %o to choose by (external: %s): %s", (nodeIps, isCloudExternal, expected) => {
  expect(computeProvidedNodeIp(nodeIps, isCloudExternal)).toBe(expected);
});
