const BOOLEANS = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

/** Go's strconv.ParseBool; undefined for any other text. */
export function parseGoBoolean(text: string): boolean | undefined {
  return BOOLEANS.get(text);
}
