import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { sendRequest } from "./send-request.ts";

/** Sends the body to a server that tells the chunks in which it came. */
async function send(write: (body: PassThrough) => void): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const body = new PassThrough();
  try {
    write(body);
    const to = { scheme: "http", host: "127.0.0.1", port } as const;
    const reply = await sendRequest({ to, method: "POST", path: "/", headers: {}, body }, new AbortController().signal);
    reply.message.resume();
    return chunks;
  } finally {
    server.close();
  }
}

it("writes small chunks that come at once as one", async () => {
  const chunks = await send((body) => {
    for (let index = 0; index < 1_000; index++) body.write("a");
    body.end();
  });
  expect(chunks.map(String)).toEqual(["a".repeat(1_000)]);
});

it("sends a long body whole, which the server reads more slowly", async () => {
  const sent = Buffer.alloc(8 * 1024 * 1024, "0123456789");
  const chunks = await send((body) => body.end(sent));
  expect(Buffer.concat(chunks).equals(sent)).toBe(true);
});
