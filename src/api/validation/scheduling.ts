import type { FieldError } from "../field-error.ts";
import type { PodSchedulingGate, Toleration, TopologySpreadConstraint } from "../gen/types.ts";
import { validateLabelSelector, validateSelectorLabelKeys } from "./label-selector.ts";
import { checkLabelValue, checkQualifiedName } from "./names.ts";
import { duplicate, each, invalid, invalidEach, optionalOneOf, required, unsupported } from "./problems.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Validates operators and effects, and that seconds are set with NoExecute only. */
export function validateTolerations(path: string, tolerations: Toleration[] | undefined): FieldError[] {
  return each(path, tolerations, (toleration, place) => {
    const { key = "", operator = "", effect = "", tolerationSeconds } = toleration;
    const errors = key === "" ? [] : invalidEach(`${place}.key`, key, checkQualifiedName(key));
    if (key === "" && operator !== "Exists") {
      const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalid(`${place}.operator`, operator, rule));
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      errors.push(invalid(`${place}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    errors.push(...validateTolerationValue(place, toleration));
    if (effect !== "" && !EFFECTS.includes(effect)) errors.push(unsupported(`${place}.effect`, effect, EFFECTS));
    return errors;
  });
}

function validateTolerationValue(path: string, { operator = "", value = "" }: Toleration): FieldError[] {
  switch (operator) {
    case "":
    case "Equal":
      return invalidEach(`${path}.operator`, value, checkLabelValue(value));
    case "Exists":
      return value === ""
        ? []
        : [invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    case "Gt":
    case "Lt":
      return /^-?\d+$/.test(value) ? [] : [invalid(`${path}.operator`, value, "value must be a valid integer")];
    default:
      return [unsupported(`${path}.operator`, operator, ["Equal", "Exists"])];
  }
}

const INCLUSION_POLICIES = ["Honor", "Ignore"];

/** Validates how pods are spread, and that no two constraints have the same topology key and action. */
export function validateTopologySpread(
  path: string,
  constraints: TopologySpreadConstraint[] | undefined,
): FieldError[] {
  const pairs = new Set<string>();
  return each(path, constraints, (constraint, place) => {
    const { maxSkew, topologyKey, whenUnsatisfiable, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
    const errors: FieldError[] = [];
    if (maxSkew <= 0) errors.push(invalid(`${place}.maxSkew`, maxSkew, "must be greater than zero"));
    if (topologyKey === "") errors.push(required(`${place}.topologyKey`, "can not be empty"));
    if (!UNSATISFIABLE.includes(whenUnsatisfiable)) {
      errors.push(unsupported(`${place}.whenUnsatisfiable`, whenUnsatisfiable, UNSATISFIABLE));
    }
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (pairs.has(pair)) errors.push(duplicate(`${place}.{topologyKey, whenUnsatisfiable}`, pair));
    pairs.add(pair);
    return [
      ...errors,
      ...validateMinDomains(`${place}.minDomains`, constraint),
      ...optionalOneOf(`${place}.nodeAffinityPolicy`, nodeAffinityPolicy, INCLUSION_POLICIES),
      ...optionalOneOf(`${place}.nodeTaintsPolicy`, nodeTaintsPolicy, INCLUSION_POLICIES),
      ...validateSelectorLabelKeys(place, constraint),
      ...validateLabelSelector(`${place}.labelSelector`, constraint.labelSelector),
    ];
  });
}

const UNSATISFIABLE = ["DoNotSchedule", "ScheduleAnyway"];

function validateMinDomains(path: string, { minDomains, whenUnsatisfiable }: TopologySpreadConstraint): FieldError[] {
  if (minDomains === undefined) return [];
  const errors = minDomains > 0 ? [] : [invalid(path, minDomains, "must be greater than zero")];
  if (whenUnsatisfiable === "DoNotSchedule") return errors;
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  return [...errors, invalid(path, minDomains, detail)];
}

/** Validates the names of the gates that must be removed before a pod is scheduled; each may be there once. */
export function validateSchedulingGates(path: string, gates: PodSchedulingGate[] | undefined): FieldError[] {
  const names = new Set<string>();
  return each(path, gates, ({ name }, place) => {
    const errors = invalidEach(place, name, checkQualifiedName(name));
    if (names.has(name)) errors.push(duplicate(place, name));
    names.add(name);
    return errors;
  });
}
