import { expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { PriorityClass } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { SCHEDULING_KINDS } from "./scheduling-kinds.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const row = SCHEDULING_KINDS.find(({ kind }) => kind === "PriorityClass") ?? expect.fail("no row of priority classes");

function classOf(name: string, fields: Omit<PriorityClass, "metadata">) {
  const made = untyped({ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, ...fields });
  return row.strategy.default?.(made) ?? made;
}

it("preempts by default, and may be told not to", () => {
  expect(classOf("c", { value: 1 })).toMatchObject({ preemptionPolicy: "PreemptLowerPriority" });
  expect(classOf("c", { value: 1, preemptionPolicy: "Never" })).toMatchObject({ preemptionPolicy: "Never" });
});

const RESERVED =
  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
it.each<[string, string, Omit<PriorityClass, "metadata">, string[]]>([
  ["may be as high as a user's can be", "c", { value: 1_000_000_000 }, []],
  [
    "is no higher",
    "c",
    { value: 1_000_000_001 },
    ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
  ],
  ["may be one of the system's", "system-node-critical", { value: 2_000_001_000 }, []],
  [
    "has the system's value then",
    "system-cluster-critical",
    { value: 1 },
    [`${RESERVED}value of system-cluster-critical PriorityClass must be 2000000000`],
  ],
  [
    "is no default then",
    "system-cluster-critical",
    { value: 2_000_000_000, globalDefault: true },
    [`${RESERVED}globalDefault of system-cluster-critical PriorityClass must be false`],
  ],
  ["is not called like one otherwise", "system-x", {}, [`${RESERVED}system-x is not a known system priority class`]],
  [
    "preempts or does not",
    "c",
    { value: 1, preemptionPolicy: "Maybe" },
    ['preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"'],
  ],
])("%s", (_name, name, fields, errors) => {
  expect(show(row.strategy.validate?.(classOf(name, fields)))).toEqual(errors);
});

it.each<[string, Omit<PriorityClass, "metadata">, string[]]>([
  ["may become the default", { value: 1, globalDefault: true, description: "d" }, []],
  ["keeps its value", { value: 2 }, ["value: Forbidden: may not be changed in an update."]],
  [
    "keeps its policy",
    { value: 1, preemptionPolicy: "Never" },
    ['preemptionPolicy: Invalid value: "Never": field is immutable'],
  ],
])("%s", (_name, fields, errors) => {
  expect(show(row.strategy.validateUpdate?.(classOf("c", fields), classOf("c", { value: 1 })))).toEqual(errors);
});
