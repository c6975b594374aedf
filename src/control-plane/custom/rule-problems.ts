import type { FieldError } from "../../api/field-error.ts";
import type { ValidationRule } from "../../api/gen/types.ts";
import { invalid, required, unsupported } from "../../api/validation/problems.ts";
import type { CelType } from "../cel/types.ts";
import { type CompiledRule, compileOwnRules } from "./compile-rules.ts";
import { readFieldPath } from "./rule-field-path.ts";
import { ruleType } from "./rule-schema.ts";
import { additionalOf, isEmbeddedResource, itemsOf, type Schema, walkSchemas } from "./schema-props.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
/** All rules of a definition together are compiled in one turn, so that their number and length have a bound. */
const MAX_RULES = 2_000;
const MAX_CHARACTERS = 256 * 1024;

/** What is wrong with how the rules of a schema are written. */
export function checkRuleFields(root: Schema, path: string): FieldError[] {
  return [...walkSchemas(root, path)].flatMap(({ schema, path: at }) => {
    return (schema["x-kubernetes-validations"] ?? []).flatMap((rule, index) => {
      return checkFields(schema, rule, `${at}.x-kubernetes-validations[${index}]`);
    });
  });
}

function checkFields(schema: Schema, rule: ValidationRule, at: string): FieldError[] {
  const { message = "", messageExpression = "", reason, fieldPath = "" } = rule;
  const errors: FieldError[] = [];
  if (rule.rule.trim() === "") errors.push(required(`${at}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "") {
    errors.push(invalid(`${at}.message`, message, "must be non-empty if specified"));
  } else if (message.trim().includes("\n")) {
    errors.push(invalid(`${at}.message`, message, "must not contain line breaks"));
  } else if (rule.rule.trim().includes("\n") && message.trim() === "") {
    errors.push(required(`${at}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    errors.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(unsupported(`${at}.reason`, reason, REASONS));
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "") errors.push(invalid(`${at}.fieldPath`, fieldPath, "must be non-empty if specified"));
  if (fieldPath.includes("\n")) errors.push(invalid(`${at}.fieldPath`, fieldPath, "must not contain line breaks"));
  if (readFieldPath(schema, fieldPath) === undefined) {
    errors.push(invalid(`${at}.fieldPath`, fieldPath, "must be a valid path"));
  }
  return errors;
}

/** Where a schema is, and what its rules may use. */
interface Position {
  readonly path: string;
  readonly name: string;
  readonly isResource: boolean;
  /** The list around it whose items cannot be told from each other: no value before is known there. */
  readonly uncorrelatable: string | undefined;
}

/** The rules that do not compile. The schema is structural, and `checkRuleFields` found nothing. */
export function checkRulePrograms(root: Schema, path: string): FieldError[] {
  const texts = [...walkSchemas(root)].flatMap(({ schema }) => schema["x-kubernetes-validations"] ?? []);
  const size = texts.reduce((sum, { rule, messageExpression = "" }) => sum + rule.length + messageExpression.length, 0);
  if (texts.length > MAX_RULES || size > MAX_CHARACTERS) {
    const problem = `its x-kubernetes-validations are more than ${MAX_RULES} rules or ${MAX_CHARACTERS} characters`;
    return [invalid(path, "", problem)];
  }
  return checkNode(root, { path, name: "selfType", isResource: true, uncorrelatable: undefined });
}

function checkNode(schema: Schema, position: Position): FieldError[] {
  const { path, name, uncorrelatable } = position;
  const type: CelType | undefined = ruleType(schema, name, position.isResource);
  const errors = compileOwnRules(schema, type).flatMap((compiled, index) => {
    return checkProgram(compiled, `${path}.x-kubernetes-validations[${index}]`, uncorrelatable);
  });
  const below = (inner: Schema, part: string, within = uncorrelatable) =>
    checkNode(inner, {
      path: path + part,
      name: name + part,
      isResource: isEmbeddedResource(inner),
      uncorrelatable: within,
    });
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  if (items) {
    const isCorrelatable = schema["x-kubernetes-list-type"] === "map";
    errors.push(...below(items, ".items", isCorrelatable ? uncorrelatable : (uncorrelatable ?? path)));
  }
  if (typeof additional === "object") errors.push(...below(additional, ".additionalProperties"));
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...below(property, `.properties[${field}]`));
  }
  return errors;
}

function checkProgram(compiled: CompiledRule, at: string, uncorrelatable: string | undefined): FieldError[] {
  const { rule, program, messageProgram, usesOldSelf } = compiled;
  const errors: FieldError[] = [];
  if ("problem" in program) errors.push(invalid(`${at}.rule`, rule, program.problem));
  if (messageProgram && "problem" in messageProgram) {
    errors.push(invalid(`${at}.messageExpression`, rule, messageProgram.problem));
  }
  if (usesOldSelf && uncorrelatable !== undefined) {
    const problem = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
    errors.push(invalid(`${at}.rule`, rule.rule, problem));
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const problem = "may not be set if oldSelf is not used in rule";
    errors.push(invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, problem));
  }
  return errors;
}
