import { expect, it } from "vitest";
import { takesFrom } from "./taken-connections.ts";

const takes = takesFrom(["10.64.0.0/16", "fd00:1::/64"]);

it.each([
  ["a pod", "10.64.3.7", "192.0.2.2", true],
  ["a pod, at a socket of both families", "::ffff:10.64.3.7", "::ffff:192.0.2.2", true],
  ["a pod of the other family", "fd00:1::7", "fd00:9::2", true],
  ["this machine, by loopback", "127.0.0.1", "127.0.0.1", true],
  ["this machine, by another address of loopback", "127.0.0.9", "127.0.0.1", true],
  ["this machine, by IPv6", "::1", "::1", true],
  ["this machine, by its own address", "192.0.2.2", "192.0.2.2", true],
  ["another machine", "192.0.2.3", "192.0.2.2", false],
  ["another machine, at a socket of both families", "::ffff:192.0.2.3", "::ffff:192.0.2.2", false],
  ["an address next to the pods'", "10.65.0.1", "192.0.2.2", false],
  ["a client without an address", "", "192.0.2.2", false],
])("of %s", (_who, remote, local, expected) => {
  expect(takes(remote, local)).toBe(expected);
});
