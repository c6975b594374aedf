import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { HttpHandler, HttpLimits, HttpServer, ServedRequest } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { issueLoopbackCertificate, type LoopbackCertificates, webOptions } from "./loopback-certificate.ts";

const SHORT_MS = 300;
const UPGRADE = "Connection: keep-alive, Upgrade\r\nUpgrade: test\r\n";
const ANSWERED = "HTTP/1.1 101 Switching Protocols\r\n\r\n";

/** A connection that leaves HTTP, and answers whose bytes come from somewhere else. */
describe("an HTTPS server, past plain answers", () => {
  let certificates: LoopbackCertificates;
  let server: HttpServer;
  const sockets: Socket[] = [];
  const seen: ServedRequest[] = [];

  beforeAll(async () => {
    certificates = await issueLoopbackCertificate();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    seen.length = 0;
    await server.close();
  });

  async function listen(handler: HttpHandler, limits: Partial<HttpLimits> = {}): Promise<void> {
    server = await listenHttp({ ...webOptions(certificates), limits }, async (request) => {
      seen.push(request);
      return await handler(request);
    });
  }

  async function connect(): Promise<TLSSocket> {
    const options = {
      host: "127.0.0.1",
      port: server.port,
      ca: certificates.authority.certificatePem,
      ALPNProtocols: ["http/1.1"],
    };
    const socket = connectTls(options).on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "secureConnect");
    return socket;
  }

  async function ask(text: string): Promise<TLSSocket> {
    const socket = await connect();
    socket.write(text);
    return socket;
  }

  const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  const closed = async (socket: Socket) => {
    socket.resume();
    if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  };
  async function readAll(socket: Socket): Promise<string> {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await closed(socket);
    return text;
  }
  async function readUntil(socket: Socket, end: string): Promise<string> {
    let text = "";
    while (!text.endsWith(end)) {
      const chunk: unknown = socket.read(1);
      if (chunk === null) await once(socket, "readable");
      else text += String(chunk);
    }
    return text;
  }

  /** Says everything again until it hears `end`. */
  const echoing: HttpHandler = async () => {
    const takeOver = async (socket: Readable & NodeJS.WritableStream) => {
      socket.write(ANSWERED);
      let heard = "";
      for await (const chunk of socket) {
        heard += String(chunk);
        socket.write(chunk);
        if (heard.endsWith("end\n")) return;
      }
    };
    return { status: 101, headers: {}, body: { takeOver } };
  };

  describe("a request for an upgrade", () => {
    it("hands its connection over, with what came too early, and closes it when that is over", async () => {
      await listen(echoing);
      const socket = await ask(`${get("/a?b=c", UPGRADE)}early `);
      expect(await readUntil(socket, "early ")).toBe(`${ANSWERED}early `);
      socket.write("late ");
      expect(await readUntil(socket, "late ")).toBe("late ");
      expect(seen[0]).toMatchObject({ isUpgrade: true, method: "GET", path: "/a", rawQuery: "b=c" });
      expect(seen[0]?.signal.aborted).toBe(false);
      socket.write("end\n");
      expect(await readAll(socket)).toBe("end\n");
      expect(seen[0]?.signal.aborted).toBe(true);
    });

    it("comes second on a connection, too", async () => {
      await listen(async (request) =>
        request.isUpgrade ? echoing(request) : { status: 200, headers: {}, body: "one" },
      );
      const socket = await ask(get("/"));
      await readUntil(socket, "one");
      socket.write(get("/", UPGRADE));
      await readUntil(socket, ANSWERED);
    });

    it.each([
      ["text", () => "whole\n", "Content-Length: 6"],
      [
        "a stream",
        () => ({
          stream: (writer: { write(text: string): void; end(): void }) => [writer.write("whole\n"), writer.end()],
        }),
        "Transfer-Encoding: chunked",
      ],
      ["a pipe", () => ({ source: Readable.from([Buffer.from("whole\n")]) }), "Transfer-Encoding: chunked"],
    ])("may be answered with %s, which ends the connection", async (_what, body, header) => {
      await listen(async () => ({ status: 403, headers: { "x-own": "1" }, body: body() }));
      const answer = await readAll(await ask(get("/", UPGRADE)));
      expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nx-own: 1\r\n/);
      expect(answer.toLowerCase()).toContain(header.toLowerCase());
      expect(answer.toLowerCase()).toContain("connection: close");
      expect(answer).toContain("whole\n");
    });

    it("is answered when the handler fails, and refused with a body", async () => {
      await listen(async () => {
        throw new Error("a bug");
      });
      expect(await readAll(await ask(get("/", UPGRADE)))).toMatch(/^HTTP\/1\.1 500 [\s\S]*a bug\n$/);
      const body = `POST / HTTP/1.1\r\nHost: x\r\n${UPGRADE}Content-Length: 2\r\n\r\nab`;
      expect(await readAll(await ask(body))).toMatch(/^HTTP\/1\.1 400 /);
      expect(seen).toHaveLength(1);
    });

    it("is given up when its client leaves before the answer", async () => {
      await listen(async (request) => {
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
        return { status: 200, headers: {}, body: "nobody reads this" };
      });
      const socket = await ask(get("/", UPGRADE));
      await expect.poll(() => seen.length).toBe(1);
      socket.end();
      await closed(socket);
      expect(seen[0]?.signal.aborted).toBe(true);
    });

    it("keeps its connection for as long as it takes, and counts", async () => {
      await listen(echoing, { maxConnections: 2, quietMs: SHORT_MS, waitMs: SHORT_MS, headersMs: SHORT_MS });
      const socket = await ask(get("/", UPGRADE));
      await readUntil(socket, ANSWERED);
      const quiet = await connect();
      // That one is cut off: the other had as long.
      await closed(quiet);
      socket.write("still ");
      expect(await readUntil(socket, "still ")).toBe("still ");
      await readUntil(await ask(get("/", UPGRADE)), ANSWERED);
      const third = connectTls({ host: "127.0.0.1", port: server.port, ca: certificates.authority.certificatePem }).on(
        "error",
        () => undefined,
      );
      sockets.push(third);
      await closed(third);
    });

    it("ends with the server", async () => {
      await listen(echoing);
      const socket = await ask(get("/", UPGRADE));
      await readUntil(socket, ANSWERED);
      await server.close();
      await closed(socket);
      expect(seen[0]?.signal.aborted).toBe(true);
    });

    it("is nothing for a request that does not ask for it", async () => {
      await listen(echoing);
      expect(await readAll(await ask(get("/")))).toBe("");
      expect(seen[0]?.isUpgrade).toBe(false);
    });
  });

  /** Over HTTP/2: what was received, and the code by which the stream ended. */
  async function askHttp2(path: string): Promise<{ text: string; code: number | undefined }> {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: certificates.authority.certificatePem }).on(
      "error",
      () => undefined,
    );
    const stream = session.request({ ":path": path }).on("error", () => undefined);
    let text = "";
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    await new Promise((resolve) => stream.once("close", resolve));
    session.destroy();
    return { text, code: stream.rstCode };
  }

  describe("an answer that is read from elsewhere", () => {
    it("comes as it is read, and whole", async () => {
      const source = new Readable({ read: () => undefined });
      await listen(async () => ({ status: 200, headers: {}, body: { source } }));
      const socket = await ask(get("/"));
      source.push("one ");
      await readUntil(socket, "one ");
      source.push("two ");
      source.push(null);
      expect(await readUntil(socket, "0\r\n\r\n")).toContain("two ");
    });

    it("breaks when its source does", async () => {
      const broken = () => {
        const source = new Readable({ read: () => undefined });
        source.push("half");
        return source;
      };
      let source = broken();
      await listen(async () => ({ status: 200, headers: {}, body: { source } }));
      const socket = await ask(get("/"));
      await readUntil(socket, "half");
      source.destroy(new Error("the source broke"));
      expect(await readAll(socket)).not.toContain("0\r\n\r\n");
      source = broken();
      const asked = askHttp2("/");
      await expect.poll(() => source.readableFlowing).toBe(true);
      source.destroy(new Error("the source broke"));
      expect((await asked).code).not.toBe(0);
    });

    it("is read no faster than it is taken, and let go of when the client leaves", async () => {
      let bytes = 0;
      const source = new Readable({
        read() {
          bytes += 64 * 1024;
          this.push(Buffer.alloc(64 * 1024, "x"));
        },
      });
      await listen(async () => ({ status: 200, headers: {}, body: { source } }));
      const socket = await ask(get("/"));
      await once(socket, "readable");
      let before = -1;
      await expect
        .poll(
          () => {
            const isStill = bytes === before;
            before = bytes;
            return isStill;
          },
          { interval: 200, timeout: 20_000 },
        )
        .toBe(true);
      expect(bytes).toBeLessThan(64 * 1024 * 1024);
      const gone = new Promise((resolve) => source.once("close", resolve));
      socket.destroy();
      await gone;
    });

    it("is not read for HEAD", async () => {
      const source = Readable.from(["body"]);
      await listen(async () => ({ status: 200, headers: {}, body: { source } }));
      const socket = await ask("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      expect(await readAll(socket)).not.toContain("body");
      expect(source.destroyed).toBe(true);
    });
  });

  it("lets a body take as long as it takes, where it is passed on", async () => {
    await listen(
      async (request) => ({ status: 200, headers: {}, body: { source: Readable.from(request.bodyStream() ?? []) } }),
      { waitMs: SHORT_MS, headersMs: SHORT_MS },
    );
    const socket = await ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n");
    await readUntil(socket, "one \r\n");
    const quiet = await connect();
    await closed(quiet);
    socket.write("4\r\ntwo \r\n0\r\n\r\n");
    expect(await readUntil(socket, "0\r\n\r\n")).toContain("two ");
  });
});
