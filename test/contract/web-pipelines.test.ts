import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { HttpServer, ServedAnswer, ServedRequest } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { MAX_WAITING_REQUESTS } from "../../src/host/linux/network/request-line.ts";

const ANSWER_BYTES = 1024 * 1024;

/** Requests of HTTP/1.1 that are sent before the ones before them are answered. */
describe("requests that do not wait for answers", () => {
  const closers: Array<() => unknown> = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function open(handler: (request: ServedRequest) => Promise<ServedAnswer>): Promise<Socket> {
    const server: HttpServer = await listenHttp({ at: { address: "127.0.0.1", port: 0 } }, handler);
    closers.push(() => server.close());
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    closers.push(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  }

  const requests = (count: number) =>
    Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");

  it("are served one after the other, in their order", async () => {
    let underWay = 0;
    let most = 0;
    const socket = await open(async ({ path }) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      return { status: 200, headers: {}, body: `served ${path}.` };
    });
    socket.write(requests(MAX_WAITING_REQUESTS + 1));
    let received = "";
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.includes(`/${MAX_WAITING_REQUESTS}.`)) break;
    }
    const served = [...received.matchAll(/served \/(\d+)\./g)].map(([, index]) => Number(index));
    expect(served).toEqual(Array.from({ length: MAX_WAITING_REQUESTS + 1 }, (_, index) => index));
    expect(most).toBe(1);
  });

  it("of a client that reads none of the answers make few answers, and end its connection when there are many", async () => {
    let made = 0;
    const socket = await open(async () => {
      made++;
      return { status: 200, headers: {}, body: Buffer.alloc(ANSWER_BYTES, "x") };
    });
    socket.pause();
    socket.write(requests(MAX_WAITING_REQUESTS));
    await expect.poll(() => made, { timeout: 60_000 }).toBeGreaterThan(0);
    socket.write(requests(3_000));
    // Not `once`, which would take a reset for a failure.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    await closed;
    // Some answers fit into the buffers of the kernel. The requests that waited go with their connection.
    expect(made).toBeLessThan(MAX_WAITING_REQUESTS / 2);
  });

  it("leave a connection as good as before", async () => {
    const socket = await open(async ({ path }) => ({ status: 200, headers: {}, body: `served ${path}.` }));
    for (let turn = 0; turn < 30; turn++) {
      socket.write(requests(2));
      let received = "";
      while (!received.includes("/1.")) received += String((await once(socket, "data"))[0]);
    }
    expect(socket.listenerCount("close")).toBeLessThan(5);
  });
});
