import { durationText, formatTimestamp } from "../functions/time-text.ts";
import { type CelValue, kindOf, type ListValue, type MapValue } from "../values.ts";

/** An expression may name a large object often: so many values and characters may come of it, as in one request. */
const MAX_VALUES = 100_000;
const MAX_CHARACTERS = 3 * 1024 * 1024;

interface Writing {
  readonly problems: string[];
  values: number;
  characters: number;
}

/**
 * The JSON of a value that an expression has made, or why there is none: a type that JSON does not have, more than a
 * request may have, or an object whose type does not fit its place (`Object.spec.wrong` in the field `selector`). The
 * place of the value is the name of its own type.
 */
export function jsonOf(value: CelValue): { readonly json: unknown } | { readonly problem: string } {
  const writing: Writing = { problems: [], values: 0, characters: 0 };
  const json = write(writing, value, typeNameOf(value));
  return writing.problems.length === 0 ? { json } : { problem: writing.problems.join("\n") };
}

const typeNameOf = (value: CelValue) =>
  typeof value === "object" && value?.kind === "map" ? value.typeName : undefined;

/** `place` is the type that objects must have here; undefined where any will do. */
function write(writing: Writing, value: CelValue, place: string | undefined): unknown {
  writing.values++;
  writing.characters += typeof value === "string" ? value.length : 0;
  if (writing.values > MAX_VALUES || writing.characters > MAX_CHARACTERS) {
    if (!writing.problems.includes(TOO_LARGE)) writing.problems.push(TOO_LARGE);
    return null;
  }
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) return refuse(writing, value);
  if (typeof value !== "object" || value === null) return value;
  switch (value.kind) {
    case "list":
      return writeList(writing, value, place);
    case "map":
      return writeMap(writing, value, place);
    case "optional":
      return value.value === undefined ? null : write(writing, value.value, place);
    case "uint":
      return Number(value.value);
    case "bytes":
      return Buffer.from(value.bytes).toString("base64");
    case "timestamp":
      return formatTimestamp(value.nanos);
    case "duration":
      return durationText(value.nanos);
    default:
      return refuse(writing, value);
  }
}

const TOO_LARGE = `the value has more than ${MAX_VALUES} parts or ${MAX_CHARACTERS} characters`;

function refuse({ problems }: Writing, value: CelValue): null {
  problems.push(`${kindOf(value)} has no form in JSON`);
  return null;
}

function writeList(writing: Writing, list: ListValue, place: string | undefined): unknown[] {
  const items: unknown[] = [];
  for (let index = 0; index < list.size && !writing.problems.includes(TOO_LARGE); index++) {
    items.push(write(writing, list.at(index), place));
  }
  return items;
}

function writeMap(writing: Writing, map: MapValue, place: string | undefined): unknown {
  const { typeName } = map;
  if (typeName !== undefined && place !== undefined && typeName !== place) {
    const expected = `expected ${JSON.stringify(place)}, which matches field name path from root Object type`;
    writing.problems.push(`unexpected type name ${JSON.stringify(typeName)}, ${expected}`);
  }
  const entries: Array<readonly [string, unknown]> = [];
  for (const key of map.keys()) {
    if (writing.problems.includes(TOO_LARGE)) break;
    if (typeof key !== "string") {
      writing.problems.push(`map key ${kindOf(key)} is not string`);
      continue;
    }
    const below = typeName === undefined || place === undefined ? place : `${place}.${key}`;
    writing.characters += key.length;
    entries.push([key, write(writing, map.find(key) ?? null, below)]);
  }
  return Object.fromEntries(entries);
}
