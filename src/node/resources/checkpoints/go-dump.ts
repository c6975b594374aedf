import { fnv32a } from "../../../base/fnv.ts";

/**
 * A value of Go, as the checksum of upstream's checkpoints sees it. The names of types and fields are Go's own, because
 * they are a part of what is summed.
 */
type GoValue =
  | { readonly kind: "nil" }
  /** A string, or a number in decimals. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly GoValue[] }
  /** A pointer within a list or a map. */
  | { readonly kind: "pointer"; readonly to: GoValue }
  /** The entries stand in Go's order of their keys. */
  | { readonly kind: "map"; readonly entries: ReadonlyArray<readonly [key: string, value: GoValue]> }
  | { readonly kind: "struct"; readonly fields: readonly GoField[] };

/** A field, or a value with its type. */
export interface GoTyped {
  readonly type: string;
  readonly value: GoValue;
}

type GoField = GoTyped & { readonly name: string };

/**
 * The checksum of upstream's checkpoints (`pkg/kubelet/checkpointmanager/checksum`): FNV-1a with 32 bits over the text
 * that the package spew makes of the value with the format `%#v`.
 */
export function computeGoChecksum(value: GoTyped): number {
  return fnv32a(Buffer.from(dumpGoValue(value)));
}

/** The text itself: types stand before what is not within a list or a map. */
export function dumpGoValue({ type, value }: GoTyped): string {
  return `(${type})${dump(value)}`;
}

function dump(value: GoValue): string {
  switch (value.kind) {
    case "nil":
      return "<nil>";
    case "text":
      return value.text;
    case "list":
      return `[${value.items.map(dump).join(" ")}]`;
    case "pointer":
      return `<*>${dump(value.to)}`;
    case "map":
      return `map[${value.entries.map(([key, item]) => `${key}:${dump(item)}`).join(" ")}]`;
    case "struct":
      return `{${value.fields.map((field) => `${field.name}:${dumpGoValue(field)}`).join(" ")}}`;
  }
}

/** A string or a number; a number of 64 bits is a bigint. */
export function goText(text: string | number | bigint): GoValue {
  return { kind: "text", text: String(text) };
}

/** A slice; undefined is Go's nil slice. */
export function goList<T>(items: readonly T[] | undefined, convert: (item: T) => GoValue): GoValue {
  return items === undefined ? { kind: "nil" } : { kind: "list", items: items.map(convert) };
}

/** A slice of bytes; undefined is Go's nil slice. One value stands for all of them, because they may be many. */
export function goBytes(bytes: Uint8Array | undefined): GoValue {
  return bytes === undefined ? { kind: "nil" } : { kind: "text", text: `[${bytes.join(" ")}]` };
}

/** A map with keys that are strings; undefined is Go's nil map. */
export function goMap<T>(entries: Readonly<Record<string, T>> | undefined, convert: (item: T) => GoValue): GoValue {
  if (entries === undefined) return { kind: "nil" };
  const sorted = Object.entries(entries).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { kind: "map", entries: sorted.map(([key, item]) => [key, convert(item)] as const) };
}

/** A map with keys that are numbers, which Go sorts as such. */
export function goNumberMap<T>(entries: ReadonlyMap<number, T>, convert: (item: T) => GoValue): GoValue {
  const sorted = [...entries].sort(([a], [b]) => a - b);
  return { kind: "map", entries: sorted.map(([key, item]) => [String(key), convert(item)] as const) };
}

/** A pointer that stands in a list or a map. */
export function goPointer(to: GoValue): GoValue {
  return { kind: "pointer", to };
}

/** A struct with its fields in Go's order. */
export function goStruct(fields: ReadonlyArray<readonly [name: string, type: string, value: GoValue]>): GoValue {
  return { kind: "struct", fields: fields.map(([name, type, value]) => ({ name, type, value })) };
}
