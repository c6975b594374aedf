import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { afterEach, expect, it } from "vitest";
import { httpClient } from "./http-client.ts";

const NEVER = new AbortController().signal;
const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function ask(server: ReturnType<typeof createTcpServer>): Promise<unknown> {
  server.listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const url = `https://127.0.0.1:${port}/`;
  return await httpClient
    .request({ method: "GET", url, timeoutMs: 10_000, maxBodyBytes: 10 }, NEVER)
    .catch((error) => error);
}

it("tells a server that speaks http where https was asked for from one that speaks neither", async () => {
  expect(await ask(createServer((_, response) => response.end("ok")))).toMatchObject({
    code: "ENOTTLS",
    message: "server gave HTTP response to HTTPS client",
  });
  const hangsUp = createTcpServer((socket) => socket.destroy());
  expect(await ask(hangsUp)).toMatchObject({ code: "ECONNRESET" });
});

it("waits for an answer however long it may, where a timer of Node.js holds no such time", async () => {
  const server = createServer((_, response) => void setTimeout(() => response.end("ok"), 50));
  server.listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const call = {
    method: "GET",
    url: `http://127.0.0.1:${port}/`,
    timeoutMs: 30 * 86_400_000,
    maxBodyBytes: 10,
  } as const;
  expect(await httpClient.request(call, NEVER)).toMatchObject({ status: 200 });
});
