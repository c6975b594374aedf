import type { FieldError } from "../../api/field-error.ts";
import { compilePattern } from "../../api/go-pattern.ts";
import { forbidden, invalid, required, unsupported } from "../../api/validation/problems.ts";
import { validateListType } from "./list-type-rules.ts";
import {
  additionalOf,
  isEmbeddedResource,
  isIntOrString,
  itemsOf,
  preservesUnknown,
  propertyOf,
  type Schema,
  subschemasOf,
  walkSchemas,
} from "./schema-props.ts";

/** The place of a schema, which decides which fields it must have. */
type Level = "root" | "items" | "field";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];

/** Keywords of JSON Schema that a CRD may not use. */
const UNSUPPORTED = {
  $ref: "$ref is not supported",
  additionalItems: "additionalItems is not supported",
  definitions: "definitions is not supported",
  dependencies: "dependencies is not supported",
  id: "id is not supported",
  patternProperties: "patternProperties is not supported",
} as const;

/** The bound on all different patterns of a schema; each takes time to compile. */
const MAX_PATTERN_CHARACTERS = 32 * 1024;

function lengthOfPatterns(schema: Schema): number {
  const patterns = new Set<string>();
  for (const { schema: part } of walkSchemas(schema)) if (part.pattern) patterns.add(part.pattern);
  return [...patterns].reduce((sum, pattern) => sum + pattern.length, 0);
}

/**
 * The problems that keep a schema from being structural. In a structural one each field has a type outside of junctors,
 * junctors only restrict values, and metadata has no rules. Follows `ValidateStructural` and the OpenAPI checks of
 * apiextensions-apiserver.
 */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  const written = lengthOfPatterns(schema);
  if (written > MAX_PATTERN_CHARACTERS) {
    const limit = `its patterns have ${written} characters together, and at most ${MAX_PATTERN_CHARACTERS} are compiled`;
    return [forbidden(path, limit)];
  }
  return [...checkSchema(schema, path, "root"), ...checkCompleteness(schema, path)];
}

function checkSchema(schema: Schema, path: string, level: Level): FieldError[] {
  const skipped = intOrStringJunctor(schema, path);
  const below = subschemasOf(schema, path).flatMap((part) => {
    if (part.nested) return checkNested(part.schema, part.path, skipped);
    return checkSchema(part.schema, part.path, part.path === `${path}.items` ? "items" : "field");
  });
  return [
    ...checkKeywords(schema, path),
    ...checkType(schema, path, level),
    ...checkExtensions(schema, path),
    ...validateListType(schema, path),
    ...checkAdditional(schema, path, level),
    ...(level === "root" || isEmbeddedResource(schema) ? checkTypeMeta(schema, path, level) : []),
    ...below,
  ];
}

function checkKeywords(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, problem] of Object.entries(UNSUPPORTED)) {
    if (Object.hasOwn(schema, name)) errors.push(forbidden(`${path}.${name}`, problem));
  }
  if (schema.type !== undefined && schema.type !== "" && !TYPES.includes(schema.type)) {
    errors.push(unsupported(`${path}.type`, schema.type, TYPES));
  }
  if (schema.uniqueItems === true) {
    const problem = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, problem));
  }
  const compiled = schema.pattern ? compilePattern(schema.pattern) : undefined;
  if (compiled && "problem" in compiled) {
    const problem = `must be a valid regular expression, but isn't: ${compiled.problem}`;
    errors.push(invalid(`${path}.pattern`, schema.pattern, problem));
  }
  return errors;
}

function checkType(schema: Schema, path: string, level: Level): FieldError[] {
  const { type = "" } = schema;
  const at = `${path}.type`;
  if (isEmbeddedResource(schema) && type !== "object") {
    const problem = "must be object if x-kubernetes-embedded-resource is true";
    return [type === "" ? required(at, problem) : invalid(at, type, problem)];
  }
  if (type === "array" && !itemsOf(schema)) return [required(`${path}.items`, "must be specified")];
  if (type === "" && !isIntOrString(schema) && !preservesUnknown(schema)) {
    const problems = { root: "at the root", items: "for specified array items", field: "for specified object fields" };
    return [required(at, `must not be empty ${problems[level]}`)];
  }
  return level === "root" && type !== "" && type !== "object" ? [invalid(at, type, "must be object at the root")] : [];
}

function checkExtensions(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const preserve = `${path}.x-kubernetes-preserve-unknown-fields`;
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(invalid(preserve, false, "must be true or undefined"));
  }
  if (isIntOrString(schema)) {
    const problem = "must be false if x-kubernetes-int-or-string is true";
    if (preservesUnknown(schema)) errors.push(invalid(preserve, true, problem));
    if (isEmbeddedResource(schema)) errors.push(invalid(`${path}.x-kubernetes-embedded-resource`, true, problem));
  }
  if (isEmbeddedResource(schema) && !preservesUnknown(schema) && Object.keys(schema.properties ?? {}).length === 0) {
    const problem =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(`${path}.properties`, problem));
  }
  return errors;
}

function checkAdditional(schema: Schema, path: string, level: Level): FieldError[] {
  const additional = additionalOf(schema);
  if (additional === undefined) return [];
  const at = `${path}.additionalProperties`;
  const errors: FieldError[] = [];
  if (additional !== true && Object.keys(schema.properties ?? {}).length > 0) {
    errors.push(forbidden(at, "additionalProperties and properties are mutual exclusive"));
  }
  if (level === "root") errors.push(forbidden(at, "must not be used at the root"));
  if (isEmbeddedResource(schema)) {
    errors.push(forbidden(at, "must not be used if x-kubernetes-embedded-resource is set"));
  }
  return errors;
}

/** The schema of an object may make apiVersion and kind strings and restrict the name, and no more. */
function checkTypeMeta(schema: Schema, path: string, level: Level): FieldError[] {
  const errors = ["apiVersion", "kind"].flatMap((name) => {
    const field = propertyOf(schema, name);
    const at = `${path}.properties[${name}].type`;
    return field && field.type !== "string" ? [invalid(at, field.type ?? "", "must be string")] : [];
  });
  const metadata = propertyOf(schema, "metadata");
  if (!metadata) return errors;
  const at = `${path}.properties[metadata]`;
  if (metadata.type !== "object") errors.push(invalid(`${at}.type`, metadata.type ?? "", "must be object"));
  const { type: _type, properties = {}, description: _description, ...rest } = metadata;
  const isOnlyName = Object.keys(properties).every((name) => name === "name" || name === "generateName");
  if (level === "root" && (!isOnlyName || Object.keys(rest).length > 0)) {
    const problem = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbidden(at, problem));
  }
  return errors;
}

/** Keywords that a schema in a junctor may not use, with those that upstream wants instead. */
const NESTED_FORBIDDEN: ReadonlyArray<readonly [keyof Schema, string]> = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function checkNested(schema: Schema, path: string, skipped: string | undefined): FieldError[] {
  if (skipped !== undefined && path.startsWith(skipped)) return [];
  const errors = NESTED_FORBIDDEN.flatMap(([name, problem]) => {
    const value = schema[name];
    return value === undefined || value === "" || value === false ? [] : [forbidden(`${path}.${name}`, problem)];
  });
  if (propertyOf(schema, "metadata")) {
    errors.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
  const below = subschemasOf(schema, path).flatMap((part) => checkNested(part.schema, part.path, skipped));
  return [...checkKeywords(schema, path), ...errors, ...below];
}

/**
 * The path of the one junctor that may name types: `anyOf` of integer and string beside `x-kubernetes-int-or-string`, or
 * the same in the first part of an `allOf`.
 */
function intOrStringJunctor(schema: Schema, path: string): string | undefined {
  if (!isIntOrString(schema)) return undefined;
  if (isIntOrStringPair(schema.anyOf)) return `${path}.anyOf[`;
  return isIntOrStringPair(schema.allOf?.[0]?.anyOf) ? `${path}.allOf[0].anyOf[` : undefined;
}

function isIntOrStringPair(anyOf: readonly Schema[] | undefined): boolean {
  const types = (anyOf ?? []).map((part) => (Object.keys(part).length === 1 ? part.type : undefined));
  return types.length === 2 && types[0] === "integer" && types[1] === "string";
}

/** A field named in a junctor of the root must also stand outside of it, where it has its type. */
function checkCompleteness(structure: Schema, path: string): FieldError[] {
  const junctors = subschemasOf(structure, path).filter(({ nested }) => nested);
  return junctors.flatMap((part) => checkDeclared({ structure, at: path }, part.schema, part.path));
}

interface Declared {
  readonly structure: Schema | undefined;
  /** The path of the structure. */
  readonly at: string;
}

function checkDeclared({ structure, at }: Declared, nested: Schema, path: string): FieldError[] {
  if (!structure) return [required(at, `because it is defined in ${path}`)];
  const errors = Object.entries(nested.properties ?? {}).flatMap(([name, field]) => {
    const below = `.properties[${name}]`;
    return checkDeclared({ structure: propertyOf(structure, name), at: at + below }, field, path + below);
  });
  const items = itemsOf(nested);
  if (items)
    errors.push(...checkDeclared({ structure: itemsOf(structure), at: `${at}.items` }, items, `${path}.items`));
  const deeper = subschemasOf(nested, path).filter((part) => part.nested);
  return [...errors, ...deeper.flatMap((part) => checkDeclared({ structure, at }, part.schema, part.path))];
}
