import type { FieldError } from "../../../api/field-error.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
} from "../../../api/gen/types.ts";
import { checkQualifiedName } from "../../../api/validation/names.ts";
import {
  duplicate,
  each,
  invalid,
  invalidEach,
  oneOf,
  optionalOneOf,
  required,
} from "../../../api/validation/problems.ts";
import { compileValidatingPolicy } from "../../cel/policies/compile-policy.ts";
import { validateBindingSpec, validateExpressions, validatePolicySpec } from "./policy-rules.ts";

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const ACTIONS = ["Audit", "Deny", "Warn"];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;

/** What is wrong with a policy that judges requests, its expressions included. */
export function validateValidatingPolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): FieldError[] {
  const { validations = [], auditAnnotations = [] } = spec;
  const texts = [
    ...validations.flatMap(({ expression, messageExpression = "" }) => [expression, messageExpression]),
    ...auditAnnotations.map(({ valueExpression }) => valueExpression),
  ];
  return [
    ...validatePolicySpec(spec),
    ...checkValidations(spec),
    ...checkAnnotations(metadata?.name ?? "", spec),
    ...validateExpressions(spec, texts, () => compileValidatingPolicy(spec)),
  ];
}

/** What is wrong with a binding of such a policy. */
export function validateValidatingBinding({ spec }: ValidatingAdmissionPolicyBinding): FieldError[] {
  return [...validateBindingSpec(spec ?? {}), ...checkActions(spec?.validationActions ?? [])];
}

function checkValidations({ validations = [], auditAnnotations = [] }: ValidatingAdmissionPolicySpec): FieldError[] {
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    return [required("spec.validations", detail), required("spec.auditAnnotations", detail)];
  }
  return each("spec.validations", validations, ({ expression, message = "", messageExpression = "", reason }, path) => {
    const errors = optionalOneOf(`${path}.reason`, reason, REASONS);
    if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
    if (messageExpression !== "" && messageExpression.trim() === "") {
      errors.push(invalid(`${path}.messageExpression`, messageExpression, "must be non-empty if specified"));
    }
    if (message !== "" && message.trim() === "") {
      errors.push(invalid(`${path}.message`, message, "must be non-empty if specified"));
    } else if (/[\n\r]/.test(message.trim())) {
      errors.push(invalid(`${path}.message`, message, "must not contain line breaks"));
    }
    return errors;
  });
}

function checkAnnotations(name: string, { auditAnnotations = [] }: ValidatingAdmissionPolicySpec): FieldError[] {
  const path = "spec.auditAnnotations";
  const errors: FieldError[] = [];
  if (auditAnnotations.length > MAX_AUDIT_ANNOTATIONS) {
    const problem = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    errors.push(invalid(path, auditAnnotations, problem));
  }
  const keys = new Set<string>();
  for (const [index, { key, valueExpression }] of auditAnnotations.entries()) {
    const at = `${path}[${index}]`;
    errors.push(...invalidEach(`${at}.key`, `${name}/${key}`, checkQualifiedName(`${name}/${key}`)));
    if (valueExpression.trim() === "") {
      errors.push(required(`${at}.valueExpression`, "valueExpression is not specified"));
    } else if (Buffer.byteLength(valueExpression.trim()) > MAX_VALUE_EXPRESSION) {
      errors.push(required(`${at}.valueExpression`, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`));
    }
    if (keys.has(key)) errors.push(duplicate(`${at}.key`, key));
    keys.add(key);
  }
  return errors;
}

function checkActions(actions: readonly string[]): FieldError[] {
  const at = "spec.validationActions";
  if (actions.length === 0) return [required(at, "at least one validation action is required")];
  const errors = each(at, actions, (action, path) => [
    ...oneOf(path, action, ACTIONS),
    ...(actions.indexOf(action) === Number(/\d+/.exec(path)?.[0]) ? [] : [duplicate(path, action)]),
  ]);
  if (actions.includes("Deny") && actions.includes("Warn")) {
    errors.push(
      invalid(
        at,
        actions,
        "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
      ),
    );
  }
  return errors;
}
