import type { FieldError } from "../../api/field-error.ts";
import type {
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
  SelectableField,
} from "../../api/gen/types.ts";
import { checkDns1035Label } from "../../api/validation/names.ts";
import { duplicate, each, forbidden, invalid, required, tooMany } from "../../api/validation/problems.ts";
import { validateColumn } from "./column-rules.ts";
import { validateDefaults } from "./default-rules.ts";
import { checkRuleFields, checkRulePrograms } from "./rule-problems.ts";
import { propertyOf, type Schema } from "./schema-props.ts";
import { validateStructural } from "./structural-rules.ts";

/** The problems of one version of a CRD. */
export function validateVersion(version: CustomResourceDefinitionVersion, path: string): FieldError[] {
  const problems = checkDns1035Label(version.name);
  const { subresources, additionalPrinterColumns, selectableFields = [] } = version;
  return [
    ...(problems.length > 0 ? [invalid(`${path}.name`, version.name, problems.join(","))] : []),
    ...checkDeprecation(version, `${path}.deprecationWarning`),
    ...checkSchema(version, `${path}.schema.openAPIV3Schema`),
    ...(subresources?.scale ? checkScale(subresources.scale, `${path}.subresources.scale`) : []),
    ...each(`${path}.additionalPrinterColumns`, additionalPrinterColumns, validateColumn),
    ...checkSelectable(selectableFields, version.schema?.openAPIV3Schema ?? {}, `${path}.selectableFields`),
  ];
}

function checkDeprecation(
  { deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
  path: string,
): FieldError[] {
  if (deprecationWarning === undefined) return [];
  const problems: string[] = [];
  if (deprecated !== true) problems.push("can only be set for deprecated versions");
  if (deprecationWarning.length > 256) problems.push("must be <= 256 characters long");
  if (deprecationWarning === "") problems.push("must not be an empty string");
  const unprintable = deprecationWarning.search(/\p{C}|[\u2028\u2029]/u);
  if (unprintable !== -1) {
    const where = `non-printable character found at index ${unprintable}`;
    problems.push(`must only contain printable UTF-8 characters; ${where}`);
  }
  return problems.map((problem) => invalid(path, deprecationWarning, problem));
}

/** Keywords that keep their meaning when `status` is checked on its own, as upstream's message names them. */
const WITH_STATUS =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
const WITH_STATUS_FIELDS = new Set(
  WITH_STATUS.split(" ")
    .map((name) => name.replace(/^./, (first) => first.toLowerCase()))
    .concat("x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
);

function checkSchema({ schema, subresources }: CustomResourceDefinitionVersion, path: string): FieldError[] {
  const root = schema?.openAPIV3Schema;
  if (!root) return [required(path)];
  const errors: FieldError[] = [];
  if (root.nullable === true) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  const other = Object.keys(root).find((name) => !WITH_STATUS_FIELDS.has(name));
  if (subresources?.status && other !== undefined) {
    const problem = `only [${WITH_STATUS}] fields are allowed at the root of the schema if the status subresource is enabled`;
    errors.push(invalid(path, other, problem));
  }
  errors.push(...validateStructural(root, path));
  // The defaults of a broken schema would only add noise.
  if (errors.length === 0) errors.push(...validateDefaults(root, path));
  errors.push(...checkRuleFields(root, path));
  // Rules are compiled against types that only a right schema has.
  return errors.length === 0 ? checkRulePrograms(root, path) : errors;
}

function checkScale(scale: CustomResourceSubresourceScale, path: string): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  return [
    ...checkScalePath(`${path}.specReplicasPath`, specReplicasPath, [".spec."], "should be a json path under .spec"),
    ...checkScalePath(
      `${path}.statusReplicasPath`,
      statusReplicasPath,
      [".status."],
      "should be a json path under .status",
    ),
    ...(labelSelectorPath === ""
      ? []
      : checkScalePath(
          `${path}.labelSelectorPath`,
          labelSelectorPath,
          [".spec.", ".status."],
          "should be a json path under either .spec or .status",
        )),
  ];
}

function checkScalePath(path: string, value: string, prefixes: readonly string[], problem: string): FieldError[] {
  if (value === "") return [required(path)];
  if (!value.startsWith(".")) return [invalid(path, value, "must be a simple json path starting with .")];
  return prefixes.some((prefix) => value.startsWith(prefix)) ? [] : [invalid(path, value, problem)];
}

const MAX_SELECTABLE_FIELDS = 8;
const SELECTABLE_TYPES = new Set(["string", "boolean", "integer"]);

function checkSelectable(fields: readonly SelectableField[], root: Schema, path: string): FieldError[] {
  const seen = new Set<string>();
  const errors = each(path, fields, ({ jsonPath }, at) => {
    const fieldAt = `${at}.jsonPath`;
    if (jsonPath === "") return [required(fieldAt)];
    if (seen.has(jsonPath)) return [duplicate(fieldAt, jsonPath)];
    seen.add(jsonPath);
    if (/^\.metadata\b/.test(jsonPath)) return [invalid(fieldAt, jsonPath, "must not point to fields in metadata")];
    const names = /^\.[^.[\]]+(\.[^.[\]]+)*$/.test(jsonPath) ? jsonPath.slice(1).split(".") : undefined;
    if (!names)
      return [invalid(fieldAt, jsonPath, "is an invalid path: only names with dots between them are allowed")];
    const field = names.reduce<Schema | undefined>((schema, name) => schema && propertyOf(schema, name), root);
    if (!field) return [invalid(fieldAt, jsonPath, "is an invalid path: does not refer to a valid field")];
    const isSelectable = SELECTABLE_TYPES.has(field.type ?? "");
    const problem =
      "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
    return isSelectable ? [] : [invalid(fieldAt, jsonPath, problem)];
  });
  return seen.size > MAX_SELECTABLE_FIELDS ? [...errors, tooMany(path, seen.size, MAX_SELECTABLE_FIELDS)] : errors;
}
