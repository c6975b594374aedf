const LENGTH_BYTES = 2;

/** A message as it is sent over TCP: after its length. The message has at most 65,535 bytes. */
export function frameMessage(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, LENGTH_BYTES);
  return framed;
}

/** Cuts what arrives over TCP into messages. What is pushed is held until it is taken. */
interface MessageSplitter {
  push(piece: Buffer): void;
  /** The next message; undefined where none is whole. */
  next(): Buffer | undefined;
  readonly hasMessage: boolean;
  /** True for a message that has begun and is not whole. */
  readonly isWithinMessage: boolean;
}

export function createMessageSplitter(): MessageSplitter {
  let held: Buffer[] = [];
  let bytes = 0;
  /** The bytes of the message at the beginning, with its length; undefined while that is not known. */
  const readEnd = (): number | undefined => {
    const [first] = held;
    if (first === undefined || bytes < LENGTH_BYTES) return undefined;
    if (first.length >= LENGTH_BYTES) return LENGTH_BYTES + first.readUInt16BE(0);
    return LENGTH_BYTES + Buffer.concat(held, bytes).readUInt16BE(0);
  };
  const isWhole = (end: number | undefined): end is number => end !== undefined && bytes >= end;
  return {
    push(piece) {
      if (piece.length === 0) return;
      held.push(piece);
      bytes += piece.length;
    },
    next() {
      const end = readEnd();
      // A peer that sends single bytes must not make us copy all of them each time.
      if (!isWhole(end)) return undefined;
      const [first = Buffer.alloc(0)] = held;
      const all = held.length === 1 ? first : Buffer.concat(held, bytes);
      held = all.length === end ? [] : [all.subarray(end)];
      bytes -= end;
      return all.subarray(LENGTH_BYTES, end);
    },
    get hasMessage() {
      return isWhole(readEnd());
    },
    get isWithinMessage() {
      return bytes > 0 && !isWhole(readEnd());
    },
  };
}
