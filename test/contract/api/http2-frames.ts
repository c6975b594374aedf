/** Frames of HTTP/2 as a client would never send them: what a library refuses to do, a hostile client does. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
export const END_HEADERS = 4;

export interface Frame {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Buffer;
}

/** RFC 9113, 4.1. */
export function frameBytes({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A literal of HPACK without indexing, with a new name (RFC 7541, 6.2.2). */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** A literal that the receiver has to remember: the newest entry of the dynamic table, which is number 62. */
export function remembered(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

export const NEWEST_REMEMBERED = 0x80 | 62;

/** A request for a path, from the static table where it has the field. */
export function requestOf(path: string, method: "GET" | "POST" = "GET"): Buffer {
  return Buffer.concat([
    Buffer.from([method === "GET" ? 0x82 : 0x83, 0x87]),
    Buffer.from([0x04]),
    text(path),
    literal("host", "x"),
  ]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([integer(bytes.length, 7), bytes]);
}

/** RFC 7541, 5.1. */
function integer(value: number, prefixBits: number): Buffer {
  const max = 2 ** prefixBits - 1;
  if (value < max) return Buffer.from([value]);
  const bytes = [max];
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
