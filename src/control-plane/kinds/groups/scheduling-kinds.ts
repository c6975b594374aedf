import type { FieldError } from "../../../api/field-error.ts";
import type { PriorityClass } from "../../../api/gen/types.ts";
import { forbidden, optionalOneOf } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { immutable } from "../core/immutable.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "./typed-strategy.ts";

const HIGHEST_USER_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = "system-";
const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

export const SCHEDULING_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "scheduling.k8s.io",
    kind: "PriorityClass",
    plural: "priorityclasses",
    shortNames: ["pc"],
    namespaced: false,
    strategy: strategyOf("PriorityClass", {
      createsOnUpdate: true,
      default(priorityClass) {
        priorityClass.preemptionPolicy ??= "PreemptLowerPriority";
      },
      // Upstream never counts on from here: what could be counted cannot change.
      prepareCreate({ metadata }) {
        metadata.generation = 1;
      },
      validate: validatePriorityClass,
      validateUpdate: (next, current) => [
        ...((next.value ?? 0) === (current.value ?? 0) ? [] : [forbidden("value", "may not be changed in an update.")]),
        ...immutable("preemptionPolicy", next.preemptionPolicy, current.preemptionPolicy),
      ],
    }),
  }),
];

function validatePriorityClass(priorityClass: PriorityClass): FieldError[] {
  const { metadata, value = 0, preemptionPolicy } = priorityClass;
  const errors = optionalOneOf("preemptionPolicy", preemptionPolicy, ["PreemptLowerPriority", "Never"]);
  if (metadata?.name?.startsWith(SYSTEM_PREFIX)) {
    const problem = checkSystemClass(priorityClass, metadata.name);
    if (problem === undefined) return errors;
    const reserved = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only.`;
    return [forbidden("metadata.name", `${reserved} error: ${problem}`), ...errors];
  }
  if (value <= HIGHEST_USER_PRIORITY) return errors;
  const detail = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`;
  return [forbidden("value", detail), ...errors];
}

/** Why it is none of the classes that every cluster has. */
function checkSystemClass({ value = 0, globalDefault = false }: PriorityClass, name: string): string | undefined {
  const expected = SYSTEM_PRIORITIES[name];
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
