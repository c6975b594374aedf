import { Duplex } from "node:stream";

/** Two ends of a connection in memory. A reader that pauses holds up the writer; when one has closed, the other is at its end. */
export function connectStreams(): { a: Duplex; b: Duplex } {
  const wakes = new Map<Duplex, () => void>();
  const createEnd = (other: () => Duplex): Duplex => {
    const finish = () => {
      if (!other().destroyed && !other().readableEnded) other().push(null);
    };
    const end: Duplex = new Duplex({
      highWaterMark: 16 * 1024,
      read() {
        const wake = wakes.get(end);
        wakes.delete(end);
        wake?.();
      },
      write(chunk: Buffer, _encoding, callback) {
        // The other end may change what it reads.
        if (other().destroyed || other().push(Buffer.from(chunk))) callback();
        else wakes.set(other(), () => callback());
      },
      final(callback) {
        finish();
        callback();
      },
      destroy(error, callback) {
        finish();
        wakes.get(other())?.();
        callback(error);
      },
    });
    return end;
  };
  const a: Duplex = createEnd(() => b);
  const b: Duplex = createEnd(() => a);
  return { a, b };
}
