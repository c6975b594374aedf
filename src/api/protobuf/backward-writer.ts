const INITIAL_BYTES = 64 * 1024;
/** A buffer that grew beyond this for a large object is not kept for the small ones. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Text up to this length is copied in JavaScript, because a call into Node costs more. */
const SHORT_TEXT = 48;
/** The longest form of one UTF-16 unit in UTF-8. */
const MAX_CHARACTER_BYTES = 3;
const MAX_VARINT_BYTES = 10;

/**
 * Writes protobuf from its end to its beginning, so that a message's length is known when it is written before the
 * message, without measuring or moving anything. The last part is therefore written first.
 */
export class BackwardWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #start = INITIAL_BYTES;

  /** The number of bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** Returns the written bytes as a buffer of its own; the writer is empty again. */
  finish(): Buffer {
    const written = Buffer.from(this.#bytes.subarray(this.#start));
    this.discard();
    return written;
  }

  /** Forgets what was written, after a failure. */
  discard(): void {
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(INITIAL_BYTES);
    this.#start = this.#bytes.length;
  }

  /** Writes a varint of a whole number from 0 to 2^53, also for tags and lengths. */
  unsigned(value: number): void {
    if (this.#start < MAX_VARINT_BYTES) this.#grow(MAX_VARINT_BYTES);
    if (value < 0x80) {
      this.#bytes[--this.#start] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    this.#start -= size;
    let position = this.#start;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[position++] = (rest % 0x80) | 0x80;
    this.#bytes[position] = rest;
  }

  /** Writes a varint of a signed integer of 64 bits, as protobuf's int32 and int64 both are. */
  signed(value: number | bigint): void {
    if (typeof value === "number" && value >= 0 && Number.isSafeInteger(value)) {
      this.unsigned(value);
      return;
    }
    if (this.#start < MAX_VARINT_BYTES) this.#grow(MAX_VARINT_BYTES);
    const groups: number[] = [];
    for (let rest = BigInt.asUintN(64, BigInt(value)); groups.length === 0 || rest > 0n; rest >>= 7n) {
      groups.push(Number(rest & 0x7fn));
    }
    for (let index = groups.length - 1; index >= 0; index--) {
      this.#bytes[--this.#start] = (groups[index] ?? 0) | (index === groups.length - 1 ? 0 : 0x80);
    }
  }

  /** Writes the text's UTF-8, with its length before it. */
  text(value: string): void {
    const { length } = value;
    if (this.#start < length * MAX_CHARACTER_BYTES) this.#grow(length * MAX_CHARACTER_BYTES);
    if (length > SHORT_TEXT || !this.#ascii(value)) {
      const size = Buffer.byteLength(value);
      this.#start -= size;
      this.#bytes.write(value, this.#start, size, "utf8");
      this.unsigned(size);
    } else {
      this.unsigned(length);
    }
  }

  /** Returns false, and writes nothing, when there is more than ASCII in the text. */
  #ascii(value: string): boolean {
    const { length } = value;
    const start = this.#start - length;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      this.#bytes[start + index] = code;
    }
    this.#start = start;
    return true;
  }

  /** Writes bytes as they are, without their length. */
  raw(bytes: Uint8Array): void {
    if (this.#start < bytes.length) this.#grow(bytes.length);
    this.#start -= bytes.length;
    this.#bytes.set(bytes, this.#start);
  }

  double(value: number): void {
    if (this.#start < 8) this.#grow(8);
    this.#start -= 8;
    this.#bytes.writeDoubleLE(value, this.#start);
  }

  #grow(needed: number): void {
    const { length } = this;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, length + needed));
    this.#bytes.copy(larger, larger.length - length, this.#start);
    this.#start = larger.length - length;
    this.#bytes = larger;
  }
}
