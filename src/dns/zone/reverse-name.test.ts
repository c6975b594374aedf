import { expect, it } from "vitest";
import { readReverseName } from "./reverse-name.ts";

/** The name of an address that is written with all of its digits. */
const nameOf = (address: string) => `${[...address.replaceAll(":", "")].toReversed().join(".")}.ip6.arpa`;

it.each([
  ["1.0.96.10.in-addr.arpa", "10.96.0.1"],
  ["0.96.10.in-addr.arpa", undefined],
  ["256.0.96.10.in-addr.arpa", undefined],
  ["1.0.96.10.in-addr.arpa.example", undefined],
  [nameOf("fd00:0000:0000:0000:0000:0000:0000:0001"), "fd00::1"],
  [nameOf("0000:0000:0000:0000:0000:0000:0000:0001"), "::1"],
  [nameOf("fd00:0000:0000:0000:0000:0000:0000:0000"), "fd00::"],
  [nameOf("0000:0000:0000:0000:0000:0000:0000:0000"), "::"],
  [nameOf("2001:0db8:0000:0001:0000:0000:0000:0010"), "2001:db8:0:1::10"],
  [nameOf("2001:0db8:0000:0000:0001:0000:0000:0001"), "2001:db8::1:0:0:1"],
  [nameOf("2001:0db8:0000:0001:0001:0001:0001:0001"), "2001:db8:0:1:1:1:1:1"],
  ["g.ip6.arpa", undefined],
  ["example.com", undefined],
])("%s is the name of %s", (name, address) => {
  expect(readReverseName(name)).toBe(address);
});
