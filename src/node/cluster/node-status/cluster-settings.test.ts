import { expect, it } from "vitest";
import type { Node } from "../../../api/gen/types.ts";
import { readObjectTtlMs, readPodCidrs } from "./cluster-settings.ts";

it.each<[string | undefined, number | undefined]>([
  ["30", 30_000],
  ["0", 0],
  ["-1", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  [undefined, undefined],
])("reads a time to live of %j as %j ms", (text, expected) => {
  const annotations = text === undefined ? {} : { "node.alpha.kubernetes.io/ttl": text };
  expect(readObjectTtlMs({ metadata: { annotations } })).toBe(expected);
  expect(readObjectTtlMs(undefined)).toBeUndefined();
});

it.each<[Node["spec"], readonly string[]]>([
  [{ podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "fd00::/64"] }, ["10.0.0.0/24", "fd00::/64"]],
  [{ podCIDR: "10.0.0.0/24" }, ["10.0.0.0/24"]],
  [{}, []],
  [undefined, []],
])("reads the ranges of %j", (spec, expected) => {
  expect(readPodCidrs(spec === undefined ? {} : { spec })).toEqual(expected);
});
