import { once } from "node:events";
import type { Duplex } from "node:stream";

/** What the first bits of a frame say (RFC 6455, section 5.2). */
export const OPCODES = { text: 1, binary: 2, close: 8, ping: 9 } as const;

/** A client of the tunnel by hand: its protocol has a `/` in its name, which other clients' libraries do not let pass. */
interface TunnelClient {
  /** All that came, the answer's head included. */
  answer(): string;
  /** The bytes of all messages so far. */
  received(): Buffer;
  /** The code that it was closed with, so far. */
  closeCode(): number | undefined;
  send(opcode: number, payload: Buffer): void;
  until(condition: () => boolean): Promise<void>;
}

/** Asks for these protocols. */
export function createTunnelClient(socket: Duplex, protocols: readonly string[]): TunnelClient {
  let bytes = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  socket.on("error", () => undefined);
  socket.once("end", () => socket.end());
  const head = ["GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  socket.write([...head, key, `Sec-WebSocket-Protocol: ${protocols.join(", ")}`, "", ""].join("\r\n"));
  return {
    answer: () => bytes.toString("latin1"),
    received: () =>
      Buffer.concat(framesOf(bytes).flatMap(({ opcode, payload }) => (opcode === OPCODES.binary ? [payload] : []))),
    closeCode: () =>
      framesOf(bytes)
        .find(({ opcode }) => opcode === OPCODES.close)
        ?.payload.readUInt16BE(0),
    // Masked with zeros, which changes nothing.
    send: (opcode, payload) =>
      void socket.write(Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload])),
    async until(condition) {
      while (!condition()) await once(socket, "data");
    },
  };
}

/** The whole frames after the answer's head. */
function framesOf(bytes: Buffer): Array<{ opcode: number; payload: Buffer }> {
  const frames: Array<{ opcode: number; payload: Buffer }> = [];
  let rest = bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);
  while (rest.length >= 2) {
    const short = rest.readUInt8(1);
    const start = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (rest.length < start) break;
    const length = short === 127 ? Number(rest.readBigUInt64BE(2)) : short === 126 ? rest.readUInt16BE(2) : short;
    if (rest.length < start + length) break;
    frames.push({ opcode: rest.readUInt8(0) & 0x0f, payload: rest.subarray(start, start + length) });
    rest = rest.subarray(start + length);
  }
  return frames;
}
