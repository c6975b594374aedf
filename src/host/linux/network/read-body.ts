import type { Readable } from "node:stream";
import { createByteCollector } from "../../../base/byte-collector.ts";
import { CodedError } from "../../../base/errors.ts";

interface BodyLimit {
  readonly maxBytes: number;
  /** The treatment of a longer body: `refuse` rejects with `EFBIG`, `cut` keeps its beginning. */
  readonly atLimit: "refuse" | "cut";
}

/** A longer body is not read to its end: leaving the loop closes the connection. */
export async function readBody(body: Readable, { maxBytes, atLimit }: BodyLimit): Promise<Buffer> {
  const collected = createByteCollector();
  for await (const chunk of body) {
    collected.add(Buffer.from(chunk));
    if (collected.length <= maxBytes) continue;
    if (atLimit === "refuse") throw new CodedError("EFBIG", `response body is longer than ${maxBytes} bytes`);
    break;
  }
  return collected.take().subarray(0, maxBytes);
}
