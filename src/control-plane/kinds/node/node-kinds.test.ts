import { expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { RuntimeClass } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { NODE_KINDS } from "./node-kinds.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const row = NODE_KINDS.find(({ kind }) => kind === "RuntimeClass") ?? expect.fail("no row of runtime classes");

function classOf(fields: Omit<RuntimeClass, "metadata">) {
  return untyped({ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "c" }, ...fields });
}

it.each<[string, Omit<RuntimeClass, "metadata">, unknown[]]>([
  ["has a handler", { handler: "kata" }, []],
  [
    "may cost something and need certain nodes",
    {
      handler: "kata",
      overhead: { podFixed: { memory: "120Mi" } },
      scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "k", operator: "Exists" }] },
    },
    [],
  ],
  ["has a handler with a name", { handler: "" }, [expect.stringContaining('handler: Invalid value: "": a lowercase')]],
  [
    "has a handler that is a label",
    { handler: "Kata.x" },
    [expect.stringContaining('handler: Invalid value: "Kata.x": a lowercase RFC 1123 label')],
  ],
  [
    "does not cost less than nothing",
    { handler: "kata", overhead: { podFixed: { cpu: "-1" } } },
    [expect.stringContaining("overhead.limits[cpu]: Invalid value")],
  ],
  [
    "needs nodes with labels",
    { handler: "kata", scheduling: { nodeSelector: { "a/b/c": "d" } } },
    [expect.stringContaining('scheduling.nodeSelector: Invalid value: "a/b/c"')],
  ],
  [
    "tolerates taints",
    { handler: "kata", scheduling: { tolerations: [{ key: "k", operator: "Like" }] } },
    [expect.stringContaining("scheduling.tolerations[0].operator")],
  ],
])("%s", (_name, fields, errors) => {
  expect(show(row.strategy.validate?.(classOf(fields)))).toEqual(errors);
});

it("keeps its handler", () => {
  const current = classOf({ handler: "kata" });
  expect(show(row.strategy.validateUpdate?.(classOf({ handler: "kata", scheduling: {} }), current))).toEqual([]);
  expect(show(row.strategy.validateUpdate?.(classOf({ handler: "runc" }), current))).toEqual([
    'handler: Invalid value: "runc": field is immutable',
  ]);
});
