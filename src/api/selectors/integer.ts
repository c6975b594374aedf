/** A longer text holds no 64-bit integer, and no label or taint has one. */
const INTEGER = /^[+-]?\d{1,19}$/;

/** Parses the value of a label or taint; undefined for a value that is no integer. */
export function parseInteger(text: string): bigint | undefined {
  return INTEGER.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
}
