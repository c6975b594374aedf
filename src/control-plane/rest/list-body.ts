/** The body of a long list while it is put together. Objects that the store holds encoded go into it uncopied. */
export interface ListBody {
  add(text: string): void;
  addStored(bytes: Buffer): void;
  /** The whole body, in order. */
  chunks(): readonly Buffer[];
}

/** Short texts share buffers of this size: a buffer for each of thousands would weigh as much as the texts. */
const SLAB_BYTES = 64 * 1024;
/** UTF-8 takes at most this many bytes for a UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3;
/** What stands between two objects, shared because a list has thousands of it. */
const COMMA = Buffer.from(",");
const COMMA_AND_BRACE = Buffer.from(",{");

export function createListBody(): ListBody {
  const chunks: Buffer[] = [];
  let text = "";
  let slab = Buffer.alloc(0);

  const encodeText = (): Buffer => {
    if (text === ",") return COMMA;
    if (text === ",{") return COMMA_AND_BRACE;
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
