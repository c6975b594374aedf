import type { FieldError } from "../../../api/field-error.ts";
import type { Condition } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { each, invalid, notNegative, required, unsupported } from "../../../api/validation/problems.ts";

/** The relations between the numbers of a workload's status. */
export interface StatusCounts {
  /** The numbers that are never negative. */
  readonly counts: readonly string[];
  /** The numbers that cannot exceed `replicas`. Default: none. */
  readonly ofReplicas?: readonly string[];
  /**
   * The name, for messages, of the number of ready pods, which the number of available pods may not exceed:
   * `readyReplicas`, `status.readyReplicas`. Default: this is not checked.
   */
  readonly available?: string;
}

const CONDITION_STATUSES = ["False", "True", "Unknown"];

/**
 * The problems of the numbers that a workload's controller reports: they must fit together, and the count of collisions
 * never falls.
 */
export function validateCounts(rules: StatusCounts, next: KubeObject, current: KubeObject): FieldError[] {
  const { counts, ofReplicas = [], available } = rules;
  const [status, before] = [statusOf(next), statusOf(current)];
  const count = (name: string) => numberIn(status, name);
  const errors = [...counts, "observedGeneration", "collisionCount"].flatMap((name) => {
    return notNegative(`status.${name}`, count(name));
  });
  for (const name of ofReplicas) {
    if (count(name) <= count("replicas")) continue;
    errors.push(invalid(`status.${name}`, count(name), "cannot be greater than status.replicas"));
  }
  if (available !== undefined && count("availableReplicas") > count("readyReplicas")) {
    errors.push(invalid("status.availableReplicas", count("availableReplicas"), `cannot be greater than ${available}`));
  }
  const isForgotten =
    before["collisionCount"] !== undefined && count("collisionCount") < numberIn(before, "collisionCount");
  if (isForgotten) errors.push(invalid("status.collisionCount", count("collisionCount"), "cannot be decremented"));
  return errors;
}

/** The problems of the conditions of an object's status, which are in `metav1`'s form. */
export function validateConditions(object: KubeObject): FieldError[] {
  const { conditions } = statusOf(object);
  const list: unknown[] = Array.isArray(conditions) ? conditions : [];
  return validateConditionList("status.conditions", list.filter(isRecord));
}

/** The problems of conditions in `metav1`'s form, which has for each a time and a reason. */
export function validateConditionList(
  path: string,
  conditions: ReadonlyArray<{ readonly [field in keyof Condition]?: unknown }>,
): FieldError[] {
  return each(path, conditions, ({ status = "", lastTransitionTime, reason = "" }, at) => {
    const errors: FieldError[] = [];
    if (!CONDITION_STATUSES.includes(String(status))) {
      errors.push(unsupported(`${at}.status`, status, CONDITION_STATUSES));
    }
    if (!lastTransitionTime) errors.push(required(`${at}.lastTransitionTime`));
    if (reason === "") errors.push(required(`${at}.reason`));
    return errors;
  });
}

function statusOf({ status }: KubeObject): Readonly<Record<string, unknown>> {
  return isRecord(status) ? status : {};
}

function numberIn(status: Readonly<Record<string, unknown>>, name: string): number {
  const value = status[name];
  return typeof value === "number" ? value : 0;
}
