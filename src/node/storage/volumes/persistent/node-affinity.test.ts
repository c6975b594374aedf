import { expect, it } from "vitest";
import type { NodeSelectorTerm } from "../../../../api/gen/types.ts";
import { isOnNode } from "./node-affinity.ts";

const NODE = { name: "node-1", labels: { zone: "a", disks: "4" } };
const label = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});
const named = (operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchFields: [{ key: "metadata.name", operator, values }],
});

it.each<[string, NodeSelectorTerm[], boolean]>([
  ["no term", [], false],
  ["an empty term", [{}], false],
  ["a label of the values", [label("zone", "In", "a", "b")], true],
  ["a label of other values", [label("zone", "In", "b")], false],
  ["a label that is not there", [label("rack", "In", "1")], false],
  ["not a value", [label("zone", "NotIn", "b")], true],
  ["not a value of a label that is not there", [label("rack", "NotIn", "1")], true],
  ["not the value", [label("zone", "NotIn", "a")], false],
  ["a label", [label("zone", "Exists")], true],
  ["a label that every object inherits", [label("toString", "Exists")], false],
  ["no label", [label("rack", "DoesNotExist")], true],
  ["a greater number", [label("disks", "Gt", "3")], true],
  ["a number that is not greater", [label("disks", "Gt", "4")], false],
  ["a lesser number", [label("disks", "Lt", "5")], true],
  ["a label that is no number", [label("zone", "Lt", "5")], false],
  ["a bound that is no number", [label("disks", "Lt", "x")], false],
  ["an operator that there is not", [label("zone", "Like", "a")], false],
  ["its name", [named("In", "node-1")], true],
  ["another name", [named("In", "node-2")], false],
  ["another field", [{ matchFields: [{ key: "metadata.uid", operator: "In", values: ["node-1"] }] }], false],
  ["one of two terms", [named("In", "node-2"), label("zone", "In", "a")], true],
  ["one of two conditions", [{ ...named("In", "node-2"), ...label("zone", "In", "a") }], false],
])("%s", (_case, nodeSelectorTerms, expected) => {
  expect(isOnNode({ spec: { nodeAffinity: { required: { nodeSelectorTerms } } } }, NODE)).toBe(expected);
});

it("a volume without an affinity is on every node", () => {
  expect(isOnNode({}, NODE)).toBe(true);
  expect(isOnNode({ spec: { nodeAffinity: {} } }, NODE)).toBe(true);
});
