import { isDeepStrictEqual } from "node:util";
import { type FieldError, fieldPath, showValue } from "../../api/field-error.ts";
import { compilePattern } from "../../api/go-pattern.ts";
import { isRecord } from "../../api/object.ts";
import { invalid, required, tooLong, tooMany } from "../../api/validation/problems.ts";
import { hasFormat } from "./formats.ts";
import { createComparison, type FormerValue, formerItems, formerProperty } from "./former-value.ts";
import { additionalOf, isIntOrString, itemsOf, propertyOf, type Schema } from "./schema-props.ts";

/** The check ends after this many problems. */
const MAX_PROBLEMS = 100;
/**
 * The work that one check may take: a value against a schema is a step, and there may be thousands of alternatives for
 * each of thousands of values.
 */
const MAX_STEPS = 250_000;
/** A pattern reads this many characters in about the time of one step. */
const CHARACTERS_PER_STEP = 4;

interface Work {
  /** What is left of the work that one check may take. */
  steps: number;
  /** How many values have met a schema. */
  met: number;
  isSame(value: unknown, former: FormerValue | undefined): boolean;
}

/** Where a value is, and what it replaces; undefined where it is new. */
interface Place {
  readonly path: string;
  readonly former: FormerValue | undefined;
}

/**
 * The places where the value does not fit its schema, in the words of kube-openapi (`pkg/validation/errors/schema.go`),
 * with which kube-apiserver answers. `path` is that of the value, `""` for the object itself. `old` is the value that it
 * replaces: what did not change is not complained about, as upstream has it (`pkg/apiserver/validation/ratcheting.go`), so
 * that a schema that became stricter holds up no update of something else.
 */
export function validateValue(schema: Schema, value: unknown, path = "", old?: unknown): FieldError[] {
  const work: Work = { steps: MAX_STEPS, met: 0, isSame: createComparison() };
  const former = old === undefined || old === null ? undefined : { value: old, schema };
  const errors = checkValue(schema, value, { path, former }, work);
  if (work.steps >= 0) return errors;
  const limit = "it takes too much work to check this value against all alternatives, enums and patterns of its schema";
  return [invalid(path, "", limit)];
}

function checkValue(schema: Schema, value: unknown, place: Place, work: Work): FieldError[] {
  if (--work.steps < 0) return [];
  work.met++;
  const errors = findProblems(schema, value, place, work);
  return errors.length > 0 && work.isSame(value, place.former) ? [] : errors;
}

function findProblems(schema: Schema, value: unknown, place: Place, work: Work): FieldError[] {
  const { path } = place;
  const typeError = checkType(schema, value, path);
  if (typeError && typeof value !== "number") return [typeError, ...checkEnum(schema, value, path, work)];
  const errors = [
    ...(typeError ? [typeError] : []),
    ...checkJunctors(schema, value, place, work),
    ...checkEnum(schema, value, path, work),
  ];
  if (typeof value === "string") errors.push(...checkString(schema, value, path, work));
  if (typeof value === "number") errors.push(...checkNumber(schema, value, path));
  if (Array.isArray(value)) errors.push(...checkList(schema, value, place, work));
  if (isRecord(value)) errors.push(...checkRecord(schema, value, place, work));
  return errors.slice(0, MAX_PROBLEMS);
}

/** JSON's name for the type of the value. */
function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkType(schema: Schema, value: unknown, path: string): FieldError | undefined {
  const allowed = isIntOrString(schema) ? ["integer", "string"] : [schema.type ?? ""].filter((type) => type !== "");
  const actual = typeOf(value);
  if (allowed.length === 0 || allowed.includes(actual)) return undefined;
  if (actual === "null" && schema.nullable === true) return undefined;
  if (actual === "integer" && allowed.includes("number")) return undefined;
  if (!schema.format || ["array", "null", "string"].includes(actual)) return wrongType(path, allowed.join(","), actual);
  return wrongType(path, schema.format, FORMATS_OF_NUMBERS[actual] ?? "");
}

/** The formats of what upstream decodes, which it names where the schema has a format. */
const FORMATS_OF_NUMBERS: Readonly<Record<string, string>> = { integer: "int64", number: "float64" };

const WHOLE_RANGES: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
};

/** The problem of a number that an integer of this format cannot be. */
function rangeProblem({ type, format = "" }: Schema, value: number, path: string): FieldError[] {
  if (type !== "integer") return [];
  const range = WHOLE_RANGES[format];
  const [least, most] = range ?? [-(2 ** 63), 2 ** 63];
  if (Number.isInteger(value) && value >= least && value <= most) return [];
  const shown = range === undefined ? "(default format)" : `with format ${format}`;
  const message = `Invalid value: "": Checked value must be of type integer ${shown} in ${path}`;
  return [{ path: "<nil>", message, reason: "FieldValueInvalid" }];
}

function wrongType(path: string, expected: string, shown: string): FieldError {
  const message = `Invalid value: ${showValue(shown)}: ${path} in body must be of type ${expected}: ${showValue(shown)}`;
  return { path, message, reason: "FieldValueTypeInvalid" };
}

function checkEnum(schema: Schema, value: unknown, path: string, work: Work): FieldError[] {
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  work.steps -= values.length;
  if (work.steps < 0) return [];
  if (values.length === 0 || values.some((candidate) => isDeepStrictEqual(candidate, value))) return [];
  const shown = values.map((candidate) =>
    JSON.stringify(typeof candidate === "string" ? candidate : JSON.stringify(candidate)),
  );
  const message = `Unsupported value: ${showValue(value)}: supported values: ${shown.join(", ")}`;
  return [{ path, message, reason: "FieldValueNotSupported" }];
}

function checkString(schema: Schema, value: string, path: string, work: Work): FieldError[] {
  const { pattern, format } = schema;
  if (pattern || format) work.steps -= Math.ceil(value.length / CHARACTERS_PER_STEP);
  if (work.steps < 0) return [];
  const problem = textProblem(schema, value, path);
  const errors = problem ? [problem] : [];
  return format && !hasFormat(format, value) ? [...errors, wrongType(path, format, value)] : errors;
}

/** The first thing that is wrong about a text. */
function textProblem({ maxLength, minLength, pattern }: Schema, value: string, path: string): FieldError | undefined {
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length;
  if (maxLength !== undefined && length > maxLength) return tooLong(path, maxLength);
  if (minLength !== undefined && length < minLength) {
    return invalid(path, value, `${path} in body should be at least ${minLength} chars long`);
  }
  const compiled = pattern ? compilePattern(pattern) : undefined;
  if (!compiled || !("matches" in compiled) || compiled.matches(value)) return undefined;
  return invalid(path, value, `${path} in body should match '${pattern}'`);
}

function checkNumber(schema: Schema, value: number, path: string): FieldError[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const problems: string[] = [];
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    problems.push(`should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    problems.push(`should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    problems.push(`should be a multiple of ${multipleOf}`);
  const range = rangeProblem(schema, value, path);
  return [...range, ...problems.map((problem) => invalid(path, value, `${path} in body ${problem}`))];
}

/** A divisor below one is inverted and multiplied with: 0.3 is a multiple of 0.1 although no division says so. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

function checkList(schema: Schema, list: readonly unknown[], { path, former }: Place, work: Work): FieldError[] {
  const { maxItems, minItems } = schema;
  const errors: FieldError[] = [];
  if (minItems !== undefined && list.length < minItems) {
    errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  const items = itemsOf(schema);
  if (!items) return errors;
  const formerItem = formerItems(former);
  for (const [index, item] of list.entries()) {
    errors.push(...checkValue(items, item, { path: `${path}[${index}]`, former: formerItem(item) }, work));
    if (errors.length >= MAX_PROBLEMS) break;
  }
  return errors;
}

function checkRecord(
  schema: Schema,
  record: Readonly<Record<string, unknown>>,
  { path, former }: Place,
  work: Work,
): FieldError[] {
  const errors = checkSize(schema, Object.keys(record).length, path);
  const additional = additionalOf(schema);
  for (const [name, item] of Object.entries(record)) {
    const field = propertyOf(schema, name) ?? additional;
    if (field === false) errors.push(invalid(path, name, `${path}.${name} in body is a forbidden property`));
    if (typeof field === "object") {
      const place = { path: fieldPath(path, name), former: formerProperty(former, name) };
      errors.push(...checkValue(field, item, place, work));
    }
    if (errors.length >= MAX_PROBLEMS) break;
  }
  work.steps -= schema.required?.length ?? 0;
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(record, name)) errors.push(required(fieldPath(path, name)));
  }
  return errors;
}

function checkSize({ minProperties, maxProperties }: Schema, size: number, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (minProperties !== undefined && size < minProperties) {
    errors.push(invalid(path, size, `${path} in body should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && size > maxProperties) errors.push(tooMany(path, size, maxProperties));
  return errors;
}

/** Upstream names no field for these problems: its answer has Go's `<nil>` there. */
function junctorError(path: string, problem: string): FieldError {
  const message = `Invalid value: "": ${JSON.stringify(path)} ${problem}`;
  return { path: "<nil>", message, reason: "FieldValueInvalid" };
}

function checkJunctors(schema: Schema, value: unknown, place: Place, work: Work): FieldError[] {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const { path } = place;
  const errors: FieldError[] = [];
  if (anyOf.length > 0) errors.push(...checkAnyOf(anyOf, value, place, work));
  if (oneOf.length > 0) errors.push(...checkOneOf(oneOf, value, place, work));
  const failures = allOf.map((part) => checkValue(part, value, place, work)).filter((found) => found.length > 0);
  if (failures.length > 0) {
    const none = failures.length === allOf.length ? ". None validated" : "";
    errors.push(...failures.flat(), junctorError(path, `must validate all the schemas (allOf)${none}`));
  }
  // Excused problems would make more values fit what must not fit, so nothing is excused here.
  if (not && checkValue(not, value, { path, former: undefined }, work).length === 0) {
    errors.push(junctorError(path, "must not validate the schema (not)"));
  }
  return errors;
}

function checkAnyOf(anyOf: readonly Schema[], value: unknown, place: Place, work: Work): FieldError[] {
  const failures = checkAlternatives(anyOf, value, place, work);
  if (failures.some(({ found }) => found.length === 0)) return [];
  return [junctorError(place.path, "must validate at least one schema (anyOf)"), ...closest(failures)];
}

function checkOneOf(oneOf: readonly Schema[], value: unknown, place: Place, work: Work): FieldError[] {
  const failures = checkAlternatives(oneOf, value, place, work);
  const valid = failures.filter(({ found }) => found.length === 0).length;
  if (valid === 1) return [];
  const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
  const error = junctorError(place.path, `must validate one and only one schema (oneOf). ${found}`);
  return valid === 0 ? [error, ...closest(failures)] : [error];
}

/** What an alternative has against the value, and how much of the value it has a schema for. */
interface Alternative {
  readonly found: readonly FieldError[];
  readonly met: number;
}

function checkAlternatives(parts: readonly Schema[], value: unknown, place: Place, work: Work): Alternative[] {
  return parts.map((part) => {
    const before = work.met;
    const found = checkValue(part, value, place, work);
    return { found, met: work.met - before };
  });
}

/** The problems of the alternative that says most about the value, as upstream's `MatchCount` has it; else of the first. */
function closest(alternatives: readonly Alternative[]): readonly FieldError[] {
  return alternatives.reduce((best, other) => (other.met > best.met ? other : best)).found;
}
