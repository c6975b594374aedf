/** Maps of the CRI: an empty one is not on the wire, while an empty message is. */
const MAP_FIELDS = new Set(["labels", "annotations", "sysctls", "unified"]);

/** A CRI message as JSON of its protobuf form: snake_case names, zero values left out, 64-bit numbers as numbers. */
export function toWireJson(message: object): Record<string, unknown> {
  const entries = Object.entries(message).flatMap(([name, value]: [string, unknown]) => {
    if (isZero(name, value)) return [];
    const wireName = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [[wireName, MAP_FIELDS.has(name) ? value : toWireValue(value)]];
  });
  return Object.fromEntries(entries);
}

function isZero(name: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return MAP_FIELDS.has(name) && Object.keys(value).length === 0;
  return !value;
}

function toWireValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireValue);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value === "object" && value !== null) return toWireJson(value);
  return typeof value === "bigint" ? Number(value) : value;
}
