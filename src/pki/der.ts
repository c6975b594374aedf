/** One element of DER: its identifier octet and its content. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** The identifier octets of the universal types that are read here. */
export const DER_TAGS = { integer: 0x02, objectIdentifier: 0x06, sequence: 0x30, set: 0x31 } as const;

/** Longer lengths are refused, because everything that is read here is far shorter. */
const MAX_LENGTH_OCTETS = 4;

/**
 * Splits bytes into the elements that follow one another. Only DER counts: identifiers of one octet, and lengths that
 * are definite and as short as possible. Throws a RangeError for everything else.
 */
export function splitDer(bytes: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = octet(bytes, at);
    if ((tag & 0x1f) === 0x1f) throw new RangeError("an identifier has more than one octet");
    const { length, begin } = readLength(bytes, at + 1);
    const end = begin + length;
    if (end > bytes.length) throw new RangeError("an element is cut off");
    elements.push({ tag, content: bytes.subarray(begin, end) });
    at = end;
  }
  return elements;
}

/** The elements within an element of that type. Throws a RangeError when it is of another type. */
export function splitElement(element: DerElement | undefined, tag: number): DerElement[] {
  if (element?.tag !== tag) throw new RangeError(`an element is not of the type ${tag}`);
  return splitDer(element.content);
}

/** Writes one element of DER, whose content are these bytes one after the other. */
export function joinDer(tag: number, content: readonly Uint8Array[]): Buffer {
  const length = content.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([Buffer.of(tag), lengthOctets(length), ...content]);
}

function lengthOctets(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Buffer.of(0x80 | octets.length, ...octets);
}

function readLength(bytes: Uint8Array, at: number): { length: number; begin: number } {
  const first = octet(bytes, at);
  if (first < 0x80) return { length: first, begin: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > MAX_LENGTH_OCTETS) throw new RangeError("a length is indefinite or too long");
  let length = 0;
  for (let index = 1; index <= count; index += 1) length = length * 256 + octet(bytes, at + index);
  if (length < 0x80 || octet(bytes, at + 1) === 0) throw new RangeError("a length is not as short as possible");
  return { length, begin: at + 1 + count };
}

function octet(bytes: Uint8Array, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new RangeError("an element is cut off");
  return value;
}
