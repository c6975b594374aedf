import type { FieldError } from "../../../api/field-error.ts";
import type { MatchCondition } from "../../../api/gen/types.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import { duplicate, each, invalidEach, required, tooMany } from "../../../api/validation/problems.ts";

const MAX_CONDITIONS = 64;

/** The problems of the conditions of a policy or webhook, those of their expressions apart. */
export function validateMatchConditions(path: string, conditions: readonly MatchCondition[] = []): FieldError[] {
  const names = new Set<string>();
  const errors = each(path, conditions, ({ name, expression }, at) => {
    const isTwice = name !== "" && names.size === names.add(name).size;
    return [
      ...(expression.trim() === "" ? [required(`${at}.expression`)] : []),
      ...(name === "" ? [required(`${at}.name`)] : invalidEach(`${at}.name`, name, checkQualifiedName(name))),
      ...(isTwice ? [duplicate(`${at}.name`, name)] : []),
    ];
  });
  if (conditions.length <= MAX_CONDITIONS) return errors;
  return [tooMany(path, conditions.length, MAX_CONDITIONS), ...errors];
}
