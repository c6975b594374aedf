/** The type of an expression, as the checker infers it. */
export type CelType =
  | { readonly kind: ScalarKind }
  | { readonly kind: "list"; readonly element: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | CelObjectType
  | { readonly kind: "opaque"; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: "type"; readonly of?: CelType }
  | { readonly kind: "param"; readonly name: string };

type ScalarKind =
  | "dyn"
  | "error"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration";

/** An object with known fields, by their names in expressions. Fields of an object may be of a type that contains it. */
interface CelObjectType {
  readonly kind: "object";
  readonly name: string;
  readonly fields: Pick<ReadonlyMap<string, CelType>, "get">;
}

export const DYN: CelType = { kind: "dyn" };
export const ERROR: CelType = { kind: "error" };
export const NULL: CelType = { kind: "null" };
export const BOOL: CelType = { kind: "bool" };
export const INT: CelType = { kind: "int" };
export const UINT: CelType = { kind: "uint" };
export const DOUBLE: CelType = { kind: "double" };
export const STRING: CelType = { kind: "string" };
export const BYTES: CelType = { kind: "bytes" };
export const TIMESTAMP: CelType = { kind: "timestamp" };
export const DURATION: CelType = { kind: "duration" };
export const TYPE: CelType = { kind: "type" };

/** A type parameter of a function's declaration. */
export const param = (name: string): CelType => ({ kind: "param", name });
/** A list type. */
export const listType = (element: CelType): CelType => ({ kind: "list", element });
/** A map type. */
export const mapType = (key: CelType, value: CelType): CelType => ({ kind: "map", key, value });
/** A type of a library, known by its name. */
export const opaqueType = (name: string, ...parameters: readonly CelType[]): CelType => ({
  kind: "opaque",
  name,
  parameters,
});

const OPTIONAL_TYPE = "optional_type";

/** The type of optionals of a type. */
export const optionalType = (of: CelType): CelType => opaqueType(OPTIONAL_TYPE, of);

/** The type in an optional; undefined for any other type. */
export function optionalElement(type: CelType): CelType | undefined {
  return type.kind === "opaque" && type.name === OPTIONAL_TYPE ? type.parameters[0] : undefined;
}

/** True where any value may stand. */
export const isDyn = ({ kind }: CelType) => kind === "dyn" || kind === "error";

/** The type as cel-go writes it in its messages. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.element)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "object":
      return type.name;
    case "opaque":
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
    case "type":
      return type.of ? `type(${formatType(type.of)})` : "type";
    case "param":
      return type.name;
    case "error":
      return "!error!";
    default:
      return type.kind;
  }
}

/** What type parameters stand for, so far. */
export type Bindings = ReadonlyMap<string, CelType>;

/** The bindings under which the value's type fits the expected one; undefined when it does not. */
export function unify(bindings: Bindings, actual: CelType, expected: CelType): Bindings | undefined {
  const extended = new Map(bindings);
  return isAssignable(extended, actual, expected) ? extended : undefined;
}

function isAssignable(bindings: Map<string, CelType>, actual: CelType, expected: CelType): boolean {
  if (expected.kind === "param") return bind(bindings, expected.name, actual);
  if (actual.kind === "param") return bind(bindings, actual.name, expected);
  if (isDyn(actual) || isDyn(expected)) return true;
  if (actual.kind === "null") return isNullable(expected);
  if (expected.kind === "null") return isNullable(actual);
  return hasSameShape(bindings, actual, expected);
}

function hasSameShape(bindings: Map<string, CelType>, actual: CelType, expected: CelType): boolean {
  if (actual.kind === "list") {
    return expected.kind === "list" && isAssignable(bindings, actual.element, expected.element);
  }
  if (actual.kind === "map") {
    if (expected.kind !== "map" || !isAssignable(bindings, actual.key, expected.key)) return false;
    return isAssignable(bindings, actual.value, expected.value);
  }
  if (actual.kind === "object") return expected.kind === "object" && actual.name === expected.name;
  if (actual.kind !== "opaque") return actual.kind === expected.kind;
  if (expected.kind !== "opaque" || actual.name !== expected.name) return false;
  return actual.parameters.every((each, index) => isAssignable(bindings, each, expected.parameters[index] ?? DYN));
}

function isNullable({ kind }: CelType): boolean {
  return ["null", "opaque", "object", "timestamp", "duration"].includes(kind);
}

/** Binds a parameter, or checks that what it stands for fits; the more general of two types that fit is kept. */
function bind(bindings: Map<string, CelType>, name: string, type: CelType): boolean {
  const bound = bindings.get(name);
  if (type.kind === "param" && type.name === name) return true;
  if (bound === undefined) {
    if (occursIn(bindings, name, type)) return false;
    bindings.set(name, type);
    return true;
  }
  if (!isAssignable(bindings, type, bound)) return false;
  if (isDyn(type) || bound.kind === "null") bindings.set(name, type);
  return true;
}

function occursIn(bindings: Bindings, name: string, type: CelType): boolean {
  switch (type.kind) {
    case "param": {
      const bound = bindings.get(type.name);
      return type.name === name || (bound !== undefined && occursIn(bindings, name, bound));
    }
    case "list":
      return occursIn(bindings, name, type.element);
    case "map":
      return occursIn(bindings, name, type.key) || occursIn(bindings, name, type.value);
    case "opaque":
      return type.parameters.some((each) => occursIn(bindings, name, each));
    default:
      return false;
  }
}

/** The type with what its parameters stand for; a parameter that is still free becomes `dyn` when that is asked for. */
export function substitute(bindings: Bindings, type: CelType, freeToDyn = false): CelType {
  switch (type.kind) {
    case "param": {
      const bound = bindings.get(type.name);
      if (bound !== undefined) return substitute(bindings, bound, freeToDyn);
      return freeToDyn ? DYN : type;
    }
    case "list":
      return { ...type, element: substitute(bindings, type.element, freeToDyn) };
    case "map":
      return {
        ...type,
        key: substitute(bindings, type.key, freeToDyn),
        value: substitute(bindings, type.value, freeToDyn),
      };
    case "opaque":
      return { ...type, parameters: type.parameters.map((each) => substitute(bindings, each, freeToDyn)) };
    case "type":
      return type.of ? { kind: "type", of: substitute(bindings, type.of, freeToDyn) } : type;
    default:
      return type;
  }
}
