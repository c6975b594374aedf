import type { Checked } from "../check.ts";
import type { Expression } from "../expression.ts";
import type { CelType } from "../types.ts";
import * as types from "../types.ts";
import type { CelValue } from "../values.ts";
import { type DeclaredSize, fixed, type SizeRange, spanning, UNKNOWN } from "./sizes.ts";

/** Where a value comes from: from what is declared, if that is known. */
interface Place {
  readonly declared: DeclaredSize | undefined;
}

/** The sizes of the items of a list, or of the keys and values of a map. */
interface EntrySizes {
  readonly key: SizeRange;
  readonly value: SizeRange;
}

/** A variable of a macro. */
export interface Local {
  readonly place: Place | undefined;
  readonly size?: SizeRange | undefined;
  readonly entries?: EntrySizes | undefined;
}

/** What is known so far of the parts of an expression. */
export interface Estimator {
  readonly checked: Checked;
  /** What is declared of each variable of the environment. */
  readonly root: Place;
  readonly locals: ReadonlyMap<string, Local>;
  readonly places: Map<Expression, Place>;
  readonly sizes: Map<Expression, SizeRange>;
  readonly entries: Map<Expression, EntrySizes>;
}

/** The type of the expression, as the checker has inferred it. */
export const inferredType = ({ checked }: Estimator, expression: Expression): CelType =>
  checked.types.get(expression) ?? types.DYN;

/** The place of a part of a value. As upstream has it, a part of what comes from nowhere is taken for the variable itself. */
export function below(
  estimator: Estimator,
  whole: Expression,
  part: (declared: DeclaredSize) => DeclaredSize | undefined,
): Place {
  const place = estimator.places.get(whole);
  if (place === undefined) return estimator.root;
  return { declared: place.declared && part(place.declared) };
}

/** The sizes of all values together; none of them has a size of 0. */
export const unionOf = (sizes: readonly SizeRange[]) => (sizes.length === 0 ? fixed(0) : sizes.reduce(spanning));

/** The sizes of the entries of one value or the other, where both are known. */
export function unionEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  return a && b && { key: spanning(a.key, b.key), value: spanning(a.value, b.value) };
}

/** Notes the sizes of the entries, where they are known. */
export function setEntries({ entries }: Estimator, expression: Expression, sizes: EntrySizes | undefined): void {
  if (sizes !== undefined) entries.set(expression, sizes);
}

/** The sizes of the entries of a list or map, where the expression says them. */
export function entriesOf({ entries, locals }: Estimator, expression: Expression): EntrySizes | undefined {
  const local = expression.node === "identifier" ? locals.get(expression.name) : undefined;
  return entries.get(expression) ?? local?.entries;
}

/** Gives an expression the sizes of another one. */
export function copySizes(estimator: Estimator, target: Expression, source: Expression): void {
  estimator.sizes.set(target, sizeRangeOf(estimator, source));
  setEntries(estimator, target, entriesOf(estimator, source));
}

/** The size by what is known of the expression, then by where it comes from, then by its type. */
export function sizeRangeOf(estimator: Estimator, expression: Expression): SizeRange {
  const known = estimator.sizes.get(expression) ?? sizeAsWritten(expression);
  if (known !== undefined) return known;
  const place = estimator.places.get(expression);
  if (place?.declared !== undefined) return { min: 0, max: place.declared.max };
  if (isScalar(inferredType(estimator, expression))) return fixed(1);
  const local = expression.node === "identifier" ? estimator.locals.get(expression.name) : undefined;
  return local?.size ?? UNKNOWN;
}

function sizeAsWritten(expression: Expression): SizeRange | undefined {
  switch (expression.node) {
    case "literal":
      return literalSize(expression.value);
    case "list":
      return fixed(expression.items.length);
    case "map":
      return fixed(expression.entries.length);
    default:
      return undefined;
  }
}

const SCALARS: ReadonlySet<string> = new Set(["bool", "double", "duration", "int", "timestamp", "uint"]);

/** True for a type whose values have no size. */
export function isScalar(type: CelType): boolean {
  const element = types.optionalElement(type);
  return element === undefined ? SCALARS.has(type.kind) : isScalar(element);
}

/** A literal text has its length, and a value without a size counts as one of 1. */
function literalSize(value: CelValue): SizeRange | undefined {
  if (typeof value === "string") return fixed([...value].length);
  if (typeof value !== "object" || value === null || value.kind === "uint") return fixed(1);
  return value.kind === "bytes" ? fixed(value.bytes.length) : undefined;
}
