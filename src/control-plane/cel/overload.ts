import { assert } from "../../base/assert.ts";
import type { CostBudget } from "./budget.ts";
import { type CelType, optionalElement } from "./types.ts";
import type { CelObject, CelValue } from "./values.ts";
import { kindOf } from "./values.ts";

/** One signature of a function, and what it does. */
export interface Overload {
  /** `size`, `_+_`, `sets.contains`. */
  readonly name: string;
  /** True for `target.name(…)`, whose target is the first argument. */
  readonly member: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** cel-go's cost of a call, asked before it. Default 1. */
  cost?(args: readonly CelValue[]): number;
  /** No argument is a failure, and each is of its type. */
  run(args: readonly CelValue[], budget: CostBudget): CelValue;
}

type Run = Overload["run"];
type Signature = readonly [args: readonly CelType[], result: CelType];

/** A function that is called by its name alone. */
export function plain(name: string, [args, result]: Signature, run: Run, cost?: Overload["cost"]): Overload {
  return { name, member: false, args, result, run, ...(cost && { cost }) };
}

/** A function that is called on its first argument. */
export function member(name: string, [args, result]: Signature, run: Run, cost?: Overload["cost"]): Overload {
  return { name, member: true, args, result, run, ...(cost && { cost }) };
}

/** True when the value may be an argument of the type; what is in lists and maps is not looked at. */
export function fitsType(value: CelValue, type: CelType): boolean {
  const kind = kindOf(value);
  switch (type.kind) {
    case "dyn":
    case "error":
    case "param":
      return true;
    case "object":
      return kind === "map";
    case "opaque":
      return optionalElement(type) === undefined ? OPAQUE_KINDS[type.name] === kind : kind === "optional";
    default:
      return kind === type.kind;
  }
}

/** The libraries' types by the names that `type(value)` has for them. */
const OPAQUE_KINDS: Readonly<Record<string, CelObject["kind"]>> = {
  "kubernetes.Quantity": "quantity",
  "net.IP": "ip",
  "net.CIDR": "cidr",
  "kubernetes.URL": "url",
  "kubernetes.Semver": "semver",
  "kubernetes.NamedFormat": "format",
  "kubernetes.authorization.Authorizer": "authorizer",
  "kubernetes.authorization.PathCheck": "pathCheck",
  "kubernetes.authorization.GroupCheck": "groupCheck",
  "kubernetes.authorization.ResourceCheck": "resourceCheck",
  "kubernetes.authorization.Decision": "decision",
};

/** The argument as a string; it is one by its overload. */
export function stringArg(value: CelValue | undefined): string {
  assert(typeof value === "string", "an overload got another type than it declares");
  return value;
}

/** The argument as an int. */
export function intArg(value: CelValue | undefined): bigint {
  assert(typeof value === "bigint", "an overload got another type than it declares");
  return value;
}

/** The argument as a double. */
export function doubleArg(value: CelValue | undefined): number {
  assert(typeof value === "number", "an overload got another type than it declares");
  return value;
}

/** The argument as an object of the kind. */
export function objectArg<Kind extends CelObject["kind"]>(
  kind: Kind,
  value: CelValue | undefined,
): Extract<CelObject, { kind: Kind }> {
  assert(typeof value === "object" && value !== null, "an overload got another type than it declares");
  assert(isOfKind(kind, value), "an overload got another type than it declares");
  return value;
}

function isOfKind<Kind extends CelObject["kind"]>(
  kind: Kind,
  value: CelObject,
): value is Extract<CelObject, { kind: Kind }> {
  return value.kind === kind;
}

/** cel-go's size of a value: of what has none, 1. */
export function sizeOf(value: CelValue | undefined): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (value.kind === "list" || value.kind === "map") return value.size;
  if (value.kind === "bytes") return value.bytes.length;
  if (value.kind === "ip") return value.family === 4 ? 4 : 16;
  if (value.kind === "cidr") return Math.ceil(value.prefix / 8);
  return value.kind === "optional" && value.value !== undefined ? sizeOf(value.value) : 1;
}

/** The cost of reading the first argument once. */
export const traversal = (args: readonly CelValue[]) => Math.ceil(sizeOf(args[0]) * 0.1);
/** The cost of reading the first argument, and of building as much. */
export const twoTraversals = (args: readonly CelValue[]) => Math.ceil(sizeOf(args[0]) * 0.2);
/** The cost of matching the first argument against the pattern of the second. */
export const matching = (args: readonly CelValue[]) =>
  Math.ceil((1 + sizeOf(args[0])) * 0.1) * Math.ceil(sizeOf(args[1]) * 0.25);
