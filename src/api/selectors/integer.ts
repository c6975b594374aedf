/** Longer ones hold no 64-bit integer, and are nobody's label or taint. */
const INTEGER = /^[+-]?\d{1,19}$/;

/** Of a label's or taint's value; undefined for what is no integer. */
export function parseInteger(text: string): bigint | undefined {
  return INTEGER.test(text) ? BigInt(text.replace(/^\+/, "")) : undefined;
}
