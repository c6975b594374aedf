import type { FieldError } from "../../../api/field-error.ts";
import type { PriorityClass } from "../../../api/gen/types.ts";
import { forbidden, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";

const SYSTEM_PREFIX = "system-";
const HIGHEST_USER_PRIORITY = 1_000_000_000;

/** The classes that every cluster has. Only they may be higher than users' classes. */
const SYSTEM_CLASSES: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2 * HIGHEST_USER_PRIORITY],
  ["system-node-critical", 2 * HIGHEST_USER_PRIORITY + 1000],
]);

const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];

const priorityClassKind = defineKind({
  group: "scheduling.k8s.io",
  kind: "PriorityClass",
  plural: "priorityclasses",
  shortNames: ["pc"],
  namespaced: false,
  strategy: strategyOf("PriorityClass", {
    generation: true,
    default(draft) {
      draft.preemptionPolicy ??= "PreemptLowerPriority";
    },
    validate: validatePriorityClass,
    validateUpdate: validateChange,
  }),
});

/** The kinds of scheduling. Admission checks that at most one class is the default. */
export const SCHEDULING_KINDS: readonly ResourceKind[] = [priorityClassKind];

function validatePriorityClass({ metadata, value = 0, globalDefault = false, ...rest }: PriorityClass): FieldError[] {
  const { preemptionPolicy = "" } = rest;
  const errors: FieldError[] = [];
  const { name = "" } = metadata ?? {};
  if (name.startsWith(SYSTEM_PREFIX)) {
    const reason = whyNoSystemClass(name, value, globalDefault);
    const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${reason}`;
    if (reason !== undefined) errors.push(forbidden("metadata.name", detail));
  } else if (value > HIGHEST_USER_PRIORITY) {
    const detail = `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`;
    errors.push(forbidden("value", detail));
  }
  if (!PREEMPTION_POLICIES.includes(preemptionPolicy)) {
    errors.push(unsupported("preemptionPolicy", preemptionPolicy, PREEMPTION_POLICIES));
  }
  return errors;
}

function whyNoSystemClass(name: string, value: number, globalDefault: boolean): string | undefined {
  const expected = SYSTEM_CLASSES.get(name);
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateChange(next: PriorityClass, current: PriorityClass): FieldError[] {
  const isMoved = (next.value ?? 0) !== (current.value ?? 0);
  return [
    ...(isMoved ? [forbidden("value", "may not be changed in an update.")] : []),
    ...immutable("preemptionPolicy", next.preemptionPolicy, current.preemptionPolicy),
  ];
}
