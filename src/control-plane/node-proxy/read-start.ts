import type { Readable } from "node:stream";

/** The beginning of a text, up to that many bytes; the rest is not read. Rejects when the stream breaks. */
export async function readStart(source: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of source) {
    const buffer = Buffer.from(chunk);
    chunks.push(buffer);
    bytes += buffer.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString();
}
