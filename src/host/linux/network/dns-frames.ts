const LENGTH_BYTES = 2;

/** A message as it is sent over TCP: after its length. The message has at most 65,535 bytes. */
export function frameMessage(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, LENGTH_BYTES);
  return framed;
}

/**
 * Cuts what arrives over TCP into messages. The returned function takes each piece. At most one message, of 65,535 bytes,
 * is held.
 */
export function createMessageSplitter(take: (message: Buffer) => void): (piece: Buffer) => void {
  let held: Buffer[] = [];
  let bytes = 0;
  return (piece) => {
    held.push(piece);
    bytes += piece.length;
    if (bytes < LENGTH_BYTES) return;
    const first = held[0];
    // A peer that sends single bytes must not make us copy all of them each time.
    if (held.length > 1 && first !== undefined && first.length >= LENGTH_BYTES) {
      if (bytes < LENGTH_BYTES + first.readUInt16BE(0)) return;
    }
    let all = held.length === 1 ? piece : Buffer.concat(held, bytes);
    while (all.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + all.readUInt16BE(0);
      if (all.length < end) break;
      take(all.subarray(LENGTH_BYTES, end));
      all = all.subarray(end);
    }
    held = all.length === 0 ? [] : [all];
    bytes = all.length;
  };
}
