/** The body of a long list while it is put together: what lies encoded in the store goes into it without a copy. */
export interface ListBody {
  add(text: string): void;
  addStored(bytes: Buffer): void;
  /** All of it, in order. */
  chunks(): readonly Buffer[];
}

/** A buffer for each of thousands of short texts would weigh as much as they do. */
const SLAB_BYTES = 64 * 1024;
/** UTF-8 has no more for a character of JavaScript. */
const MAX_BYTES_PER_CHARACTER = 3;
/** Thousands of these stand between objects that go out as they are stored. */
const COMMA = Buffer.from(",");

export function createListBody(): ListBody {
  const chunks: Buffer[] = [];
  let text = "";
  let slab = Buffer.alloc(0);

  const encodeText = (): Buffer => {
    if (text === ",") return COMMA;
    const most = text.length * MAX_BYTES_PER_CHARACTER;
    if (most > slab.length) slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, Buffer.byteLength(text)));
    const length = slab.write(text);
    const encoded = slab.subarray(0, length);
    slab = slab.subarray(length);
    return encoded;
  };

  const flush = () => {
    if (text === "") return;
    chunks.push(encodeText());
    text = "";
  };

  return {
    add(more) {
      text += more;
      if (text.length * MAX_BYTES_PER_CHARACTER >= SLAB_BYTES) flush();
    },
    addStored(bytes) {
      flush();
      chunks.push(bytes);
    },
    chunks() {
      flush();
      return chunks;
    },
  };
}
