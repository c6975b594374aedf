import { expect, it } from "vitest";
import { hasSysResource } from "./machine-facts.ts";

it.each([
  ["CapEff:\t000001ffffffffff\n", true],
  ["CapEff:\t000001fffeffffff\n", false],
  ["Name:\tx\nCapEff:\t0000000001000000\nCapBnd:\t0\n", true],
  ["", false],
])("reads CAP_SYS_RESOURCE from %j", (status, expected) => {
  expect(hasSysResource(status)).toBe(expected);
});
