import { expect, it } from "vitest";
import type { PodSpec } from "../../../api/gen/types.ts";
import { rejectOversized } from "./pod-size.ts";

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const container = (index: number) => ({ name: `c${index}` });
const amounts = (count: number) => Object.fromEntries(many(count, (index) => [`example.com/r${index}`, "1"]));
const spec = (fields: Partial<PodSpec>): PodSpec => ({ containers: [container(0)], ...fields });

it.each<[what: string, spec: PodSpec]>([
  ["1001 containers", spec({ containers: many(1_001, container) })],
  ["1001 containers", spec({ initContainers: many(1_000, container) })],
  ["1001 volumes", spec({ volumes: many(1_001, (index) => ({ name: `v${index}` })) })],
  ["1001 secrets and config maps", spec({ imagePullSecrets: many(1_001, (index) => ({ name: `s${index}` })) })],
  ["5001 requests and limits", spec({ containers: [{ name: "c", resources: { limits: amounts(5_001) } }] })],
])("a pod of %s is refused", (what, tooMuch) => {
  const most = what.startsWith("5") ? 5_000 : 1_000;
  const message = `Pod has ${what}, and this node takes pods of at most ${most}`;
  expect(rejectOversized({ spec: tooMuch })).toEqual({ reason: "PodTooLarge", message });
});

it.each<PodSpec>([
  spec({}),
  spec({ containers: many(1_000, container) }),
  spec({ imagePullSecrets: many(5_000, () => ({ name: "one" })) }),
])("another pod is not", (small) => {
  expect(rejectOversized({ spec: small })).toBeUndefined();
});
