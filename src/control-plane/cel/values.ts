/**
 * What an expression computes with. An `int` is a bigint, a `double` a number; everything that JavaScript has no type
 * for is an object that says its kind. An evaluation error is a value, too, because `||` and `&&` may absorb it.
 */
export type CelValue = null | boolean | bigint | number | string | CelObject;

export type CelObject =
  | UintValue
  | BytesValue
  | TimestampValue
  | DurationValue
  | ListValue
  | MapValue
  | OptionalValue
  | TypeValue
  | QuantityValue
  | AddressValue
  | BlockValue
  | UrlValue
  | SemverValue
  | FormatValue
  | AuthorizerValue
  | PathCheckValue
  | GroupCheckValue
  | ResourceCheckValue
  | DecisionValue
  | Failure;

interface UintValue {
  readonly kind: "uint";
  readonly value: bigint;
}

interface BytesValue {
  readonly kind: "bytes";
  readonly bytes: Uint8Array;
}

/** Nanoseconds since 1970. */
interface TimestampValue {
  readonly kind: "timestamp";
  readonly nanos: bigint;
}

interface DurationValue {
  readonly kind: "duration";
  readonly nanos: bigint;
}

/** A list whose items are made when they are read. */
export interface ListValue {
  readonly kind: "list";
  readonly size: number;
  /** `set` and `map` lists of a schema are equal, and are joined, by other rules than lists are. */
  readonly listType?: SetList | MapList;
  /** The item at an index within the size. */
  at(index: number): CelValue;
}

/** Items that differ from each other, in any order. */
interface SetList {
  readonly type: "set";
}

/** Objects that differ by the given fields, in any order. */
interface MapList {
  readonly type: "map";
  readonly keys: readonly string[];
}

/** A map, or an object of a schema, whose fields are its keys. */
export interface MapValue {
  readonly kind: "map";
  /** True for an object of a schema, whose absent fields are errors of the field and not of a key. */
  readonly isObject: boolean;
  /** Set for an object that an expression has made of a named type. */
  readonly typeName?: string;
  readonly size: number;
  find(key: CelValue): CelValue | undefined;
  keys(): readonly CelValue[];
}

interface OptionalValue {
  readonly kind: "optional";
  readonly value: CelValue | undefined;
}

interface TypeValue {
  readonly kind: "type";
  readonly name: string;
}

interface QuantityValue {
  readonly kind: "quantity";
  readonly nanos: bigint;
}

/** An IP address, as a number. */
export interface AddressValue {
  readonly kind: "ip";
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** An address and how many of its first bits count. */
export interface BlockValue {
  readonly kind: "cidr";
  readonly address: AddressValue;
  readonly prefix: number;
}

export interface UrlValue {
  readonly kind: "url";
  /** As Go writes it: URLs are equal by it. */
  readonly text: string;
  readonly scheme: string;
  /** With the port, as it was written. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  /** Escaped. */
  readonly path: string;
  readonly query: ReadonlyMap<string, readonly string[]>;
}

/** A semantic version; what it was built from does not count when versions are compared. */
export interface SemverValue {
  readonly kind: "semver";
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: readonly string[];
  readonly build: string;
}

interface FormatValue {
  readonly kind: "format";
  readonly name: string;
}

/** Answers whether somebody may do something; see `Authorize` of the control plane's ports. */
export interface AuthorizerValue {
  readonly kind: "authorizer";
  /** The decision about the user of the request, or about a service account. */
  decide(check: AccessCheck): AccessAnswer;
  /** The same for another user. */
  forAccount(namespace: string, name: string): AuthorizerValue;
}

interface AccessCheck {
  readonly verb: string;
  /** Set for a path that is no resource. */
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The selector of a list or watch; one that cannot be read selects nothing by which access is decided. */
  readonly fieldSelector?: string;
}

/** Whether an action is allowed, and why. */
export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason: string;
}

interface PathCheckValue {
  readonly kind: "pathCheck";
  readonly authorizer: AuthorizerValue;
  readonly path: string;
}

interface GroupCheckValue {
  readonly kind: "groupCheck";
  readonly authorizer: AuthorizerValue;
  readonly group: string;
}

interface ResourceCheckValue {
  readonly kind: "resourceCheck";
  readonly authorizer: AuthorizerValue;
  readonly check: Omit<AccessCheck, "verb" | "path">;
}

interface DecisionValue {
  readonly kind: "decision";
  readonly answer: AccessAnswer;
}

/** The error that an operation ended with, in cel-go's words. */
interface Failure {
  readonly kind: "failure";
  readonly message: string;
}

/** An evaluation error. */
export const failure = (message: string): Failure => ({ kind: "failure", message });
/** True for an evaluation error. */
export const isFailure = (value: CelValue): value is Failure => kindOf(value) === "failure";
/** The optional without a value. */
export const NONE: OptionalValue = { kind: "optional", value: undefined };
/** An unsigned integer. */
export const uintOf = (value: bigint): UintValue => ({ kind: "uint", value });
/** An optional with a value. */
export const optionalOf = (value: CelValue): OptionalValue => ({ kind: "optional", value });
/** Bytes. */
export const celBytes = (bytes: Uint8Array): BytesValue => ({ kind: "bytes", bytes });

/** The kind of any value, those of JavaScript's own types included. */
export function kindOf(value: CelValue): CelObject["kind"] | "null" | "bool" | "int" | "double" | "string" {
  switch (typeof value) {
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    case "boolean":
      return "bool";
    default:
      return value === null ? "null" : value.kind;
  }
}

/** A list of values that are there already. */
export function celList(items: readonly CelValue[]): ListValue {
  return { kind: "list", size: items.length, at: (index) => items[index] ?? null };
}

/** All items of a list. */
export function itemsOfList(list: ListValue): CelValue[] {
  return Array.from({ length: list.size }, (_, index) => list.at(index));
}

/** The text by which equal keys of a map are found: numbers of different types are equal. Undefined for no key. */
export function keyText(key: CelValue): string | undefined {
  switch (kindOf(key)) {
    case "string":
      return `s${String(key)}`;
    case "bool":
      return `b${String(key)}`;
    case "int":
      return `n${String(key)}`;
    case "double":
      return typeof key === "number" && Number.isInteger(key) ? `n${BigInt(key)}` : `n${String(key)}`;
    case "uint":
      return `n${typeof key === "object" && key?.kind === "uint" ? key.value : ""}`;
    default:
      return undefined;
  }
}

/** A map of entries that are there already; the last of equal keys counts. */
export function celMap(entries: Iterable<readonly [CelValue, CelValue]>): MapValue {
  const byText = new Map<string, readonly [CelValue, CelValue]>();
  for (const entry of entries) byText.set(keyText(entry[0]) ?? "", entry);
  return {
    kind: "map",
    isObject: false,
    size: byText.size,
    find: (key) => byText.get(keyText(key) ?? "")?.[1],
    keys: () => [...byText.values()].map(([key]) => key),
  };
}

/** An object of a named type. */
export function celObject(typeName: string, fields: ReadonlyMap<string, CelValue>): MapValue {
  return {
    kind: "map",
    isObject: true,
    typeName,
    size: fields.size,
    find: (key) => (typeof key === "string" ? fields.get(key) : undefined),
    keys: () => [...fields.keys()],
  };
}
