import { mkdtemp, rm, stat } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { HttpHandler, HttpServer, ListenAddress } from "../../http-server.ts";
import { listenHttp } from "./listen-http.ts";

const ADDRESS = "127.0.0.1";
const undo: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function listen(handler: HttpHandler, at: ListenAddress = { address: ADDRESS, port: 0 }): Promise<HttpServer> {
  const server = await listenHttp({ at, defaultHeaders: { "content-type": "text/x" } }, handler);
  undo.push(async () => await server.close());
  return server;
}

async function ask(to: { port: number } | { socketPath: string }, path: string, method = "GET") {
  return await new Promise<{ status: number | undefined; type: string | undefined; body: string }>(
    (resolve, reject) => {
      const asked = request({ host: ADDRESS, ...to, path, method }, (response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += String(chunk);
        });
        response.on("end", () =>
          resolve({ status: response.statusCode, type: response.headers["content-type"], body }),
        );
      });
      asked.on("error", reject);
      asked.end();
    },
  );
}

const echo: HttpHandler = ({ method, path, query }) => ({ status: 200, body: `${method} ${path} ${query.get("q")}` });

it("hands the request over and gives the answer back", async () => {
  const { port } = await listen(echo);
  expect(await ask({ port }, "/pods?q=1")).toEqual({
    status: 200,
    type: "text/x",
    body: "GET /pods 1",
  });
  expect(await ask({ port }, "/pods", "HEAD")).toMatchObject({ status: 200, body: "" });
});

it("answers for a handler that fails", async () => {
  const { port } = await listen(() => {
    throw new Error("no");
  });
  expect(await ask({ port }, "/")).toMatchObject({ status: 500, body: "no\n" });
});

it("outlives a request line that is no URL", async () => {
  const { port } = await listen(echo);
  expect(await ask({ port }, "//")).toMatchObject({ status: 400 });
  expect(await ask({ port }, "/")).toMatchObject({ status: 200 });
});

it("serves a socket that only its owner may use, in the place of one that was left behind", async () => {
  const directory = await mkdtemp(join(tmpdir(), "listen-http-"));
  undo.push(async () => await rm(directory, { recursive: true }));
  const socketPath = join(directory, "node.sock");
  const first = await listenHttp({ at: { socketPath } }, echo);
  undo.push(async () => await first.close());
  const second = await listen(echo, { socketPath });
  expect(second.port).toBe(0);
  expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
  expect(await ask({ socketPath }, "/status")).toMatchObject({ status: 200, body: "GET /status null" });
});

it("says which address is taken, and what to do", async () => {
  const { port } = await listen(echo);
  await expect(listenHttp({ at: { address: ADDRESS, port } }, echo)).rejects.toMatchObject({
    code: "listen-failed",
    message: expect.stringMatching(new RegExp(`^cannot listen on ${ADDRESS}:${port}: .*choose another port$`)),
  });
});

it("ends open connections when it closes", async () => {
  const server = await listenHttp({ at: { address: ADDRESS, port: 0 } }, echo);
  const socket = connect(server.port, ADDRESS);
  await new Promise((resolve) => socket.once("connect", resolve));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);
  await server.close();
  await closed;
});
