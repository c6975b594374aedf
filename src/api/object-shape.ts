import { isTimeText } from "./decode.ts";
import { SCHEMA } from "./gen/schema.ts";
import { isRecord } from "./object.ts";

/**
 * Makes an object that a server sent what its type says, as Go's decoding does: a field that is null is absent, a required one
 * that is absent is its type's zero value, and a quantity that is a number is its text. The object is changed in place,
 * so that nobody else may have it yet. Returns where a value of another type stands, and undefined where there is none;
 * unknown fields, and what is beneath fields without a schema, may be anything.
 *
 * It is for objects that come in by thousands. What people write is decoded (`decodeObject`), which tells all that is wrong.
 */
export function shapeObject(type: string, value: unknown): string | undefined {
  const misfit = structFitter(type)(value);
  return misfit === undefined ? undefined : misfit.path.replace(/^\./, "") + misfit.problem;
}

interface Misfit {
  /** `.spec.containers[0]` */
  readonly path: string;
  /** ` must be a list` */
  readonly problem: string;
}

/** Returns where the value does not fit; undefined where it does, and then it has been put in shape. */
type Fitter = (value: unknown) => Misfit | undefined;

interface Field {
  readonly fits: Fitter;
  /** Makes the zero value of a field that must be there; undefined for one that may be absent. */
  readonly zero: (() => unknown) | undefined;
  /** A number in it becomes a text. */
  readonly isQuantity: boolean;
}

interface Struct {
  readonly fields: ReadonlyMap<string, Field>;
  readonly required: ReadonlyArray<readonly [name: string, zero: () => unknown]>;
}

const structs = new Map<string, Struct>();
const fitters = new Map<string, Fitter>();

/** Each type's fitter is made when it is first needed: a type may contain itself. */
function structOf(type: string): Struct {
  const known = structs.get(type);
  if (known !== undefined) return known;
  const fields = new Map(Object.entries(SCHEMA[type] ?? {}).map(([name, declared]) => [name, fieldOf(declared)]));
  const required = [...fields].flatMap(([name, { zero }]) => (zero === undefined ? [] : [[name, zero] as const]));
  const made = { fields, required };
  structs.set(type, made);
  return made;
}

function fieldOf(declared: string): Field {
  const isRequired = declared.endsWith("!");
  const type = isRequired ? declared.slice(0, -1) : declared;
  const zero = isRequired ? zeroOf(type) : undefined;
  return { fits: fitterOf(type), zero, isQuantity: type === "Quantity" };
}

function fitterOf(type: string): Fitter {
  const known = fitters.get(type);
  if (known !== undefined) return known;
  const made = makeFitter(type);
  fitters.set(type, made);
  return made;
}

function makeFitter(type: string): Fitter {
  if (type.startsWith("[]")) return listFitter(type.slice(2));
  if (type.startsWith("{}")) return mapFitter(type.slice(2));
  return SCALARS.get(type) ?? structFitter(type);
}

function listFitter(itemType: string): Fitter {
  const itemFits = fitterOf(itemType);
  return (value) => {
    if (!Array.isArray(value)) return misfit("a list");
    for (let index = 0; index < value.length; index++) {
      const wrong = itemFits(value[index]);
      if (wrong !== undefined) return { ...wrong, path: `[${index}]${wrong.path}` };
    }
    return undefined;
  };
}

function mapFitter(valueType: string): Fitter {
  const valueFits = fitterOf(valueType);
  const isQuantity = valueType === "Quantity";
  return (value) => {
    if (!isRecord(value)) return misfit("an object");
    for (const name of Object.keys(value)) {
      if (isQuantity) write(value, name, textOf(value[name]));
      const wrong = valueFits(value[name]);
      if (wrong !== undefined) return { ...wrong, path: `[${shorten(name)}]${wrong.path}` };
    }
    return undefined;
  };
}

function structFitter(type: string): Fitter {
  let struct: Struct | undefined;
  return (value) => {
    if (!isRecord(value)) return misfit("an object");
    struct ??= structOf(type);
    const { fields, required } = struct;
    for (const name of Object.keys(value)) {
      const field = fields.get(name);
      if (field === undefined || value[name] === undefined) continue;
      if (value[name] === null) {
        Reflect.deleteProperty(value, name);
        continue;
      }
      if (field.isQuantity) write(value, name, textOf(value[name]));
      const wrong = field.fits(value[name]);
      if (wrong !== undefined) return { ...wrong, path: `.${name}${wrong.path}` };
    }
    for (const [name, zero] of required) if (value[name] === undefined) write(value, name, zero());
    return undefined;
  };
}

/** The object is the caller's own, although its type allows no change. */
function write(value: object, name: string, item: unknown): void {
  Reflect.set(value, name, item);
}

const textOf = (quantity: unknown) => (typeof quantity === "number" ? String(quantity) : quantity);

/** A time has no zero value that could be told from a time. */
function zeroOf(type: string): (() => unknown) | undefined {
  if (type.startsWith("[]")) return () => [];
  if (type.startsWith("{}") || type === "raw") return () => ({});
  if (type === "Time" || type === "MicroTime") return undefined;
  if (!SCALARS.has(type)) return () => zeroStruct(type);
  if (type === "boolean") return () => false;
  if (type === "Quantity") return () => "0";
  return ["string", "bytes"].includes(type) ? () => "" : () => 0;
}

function zeroStruct(type: string): object {
  return Object.fromEntries(structOf(type).required.map(([name, zero]) => [name, zero()]));
}

const INT32 = 2 ** 31;
/** A cheap look: the digits of a quantity may be as many as one likes, and its suffix is one of a few letters. */
const QUANTITY = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,3})?$/;
const MAX_QUANTITY_LENGTH = 64;

const scalar = (words: string, fits: (value: unknown) => boolean): Fitter => {
  const wrong = misfit(words);
  return (value) => (fits(value) ? undefined : wrong);
};
const isText = (value: unknown) => typeof value === "string";
const isInt32 = (value: unknown) =>
  typeof value === "number" && Number.isInteger(value) && value >= -INT32 && value < INT32;
const isQuantity = (value: unknown) =>
  typeof value === "string" && value.length <= MAX_QUANTITY_LENGTH && QUANTITY.test(value);

const SCALARS: ReadonlyMap<string, Fitter> = new Map([
  ["string", scalar("a string", isText)],
  ["bytes", scalar("a string", isText)],
  ["boolean", scalar("true or false", (value) => typeof value === "boolean")],
  ["int32", scalar("an integer of 32 bits", isInt32)],
  ["int64", scalar("an integer", (value) => Number.isInteger(value))],
  ["double", scalar("a number", (value) => Number.isFinite(value))],
  ["IntOrString", scalar("an integer or a string", (value) => isText(value) || isInt32(value))],
  ["Quantity", scalar("a quantity", isQuantity)],
  ["Time", scalar("a time", isTimeText)],
  ["MicroTime", scalar("a time", isTimeText)],
  ["raw", () => undefined],
]);

function misfit(words: string): Misfit {
  return { path: "", problem: ` must be ${words}` };
}

/** A path is shown to people. */
function shorten(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}
