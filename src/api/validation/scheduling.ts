import type { FieldError } from "../field-error.ts";
import type { Toleration, TopologySpreadConstraint } from "../gen/types.ts";
import { checkLabelValue, checkQualifiedName } from "./names.ts";
import { duplicate, each, invalid, invalidEach, oneOf, required, unsupported } from "./problems.ts";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Operators, effects, and that seconds go with NoExecute only. */
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
      return [unsupported(`${path}.operator`, operator, ["Equal", "Exists", "Gt", "Lt"])];
  }
}

/** As much as says that the constraint is one: only a scheduler acts on it. */
export function validateTopologySpread(
  path: string,
  constraints: TopologySpreadConstraint[] | undefined,
): FieldError[] {
  const pairs = new Set<string>();
  return each(path, constraints, ({ maxSkew, topologyKey, whenUnsatisfiable, minDomains }, place) => {
    const errors: FieldError[] = [];
    if (maxSkew <= 0) errors.push(invalid(`${place}.maxSkew`, maxSkew, "must be greater than zero"));
    if (topologyKey === "") errors.push(required(`${place}.topologyKey`, "can not be empty"));
    else errors.push(...invalidEach(`${place}.topologyKey`, topologyKey, checkQualifiedName(topologyKey)));
    errors.push(...oneOf(`${place}.whenUnsatisfiable`, whenUnsatisfiable, ["DoNotSchedule", "ScheduleAnyway"]));
    if (minDomains !== undefined && minDomains <= 0)
      errors.push(invalid(`${place}.minDomains`, minDomains, "must be greater than zero"));
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (pairs.has(pair)) errors.push(duplicate(`${place}.{topologyKey, whenUnsatisfiable}`, pair));
    pairs.add(pair);
    return errors;
  });
}
