/** The line between the parts of an input that has several. */
export const PART = "\n=====\n";

/** The parts of an input; one that is missing is empty. */
export function partsOf(input: Buffer, count: number): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  while (parts.length < count - 1) {
    const end = input.indexOf(PART, start);
    if (end < 0) break;
    parts.push(input.subarray(start, end));
    start = end + PART.length;
  }
  parts.push(input.subarray(start));
  while (parts.length < count) parts.push(Buffer.alloc(0));
  return parts;
}

/** The value of a JSON text; undefined for any other text. */
export function jsonOf(part: Buffer | undefined): unknown {
  try {
    return JSON.parse(String(part));
  } catch {
    return undefined;
  }
}
