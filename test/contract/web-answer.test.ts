import { once } from "node:events";
import { connect } from "node:http2";
import { Agent, request as requestHttp1 } from "node:https";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnswerBody, AnswerHeaders, AnswerWriter, HttpServer } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { issueLoopbackCertificate, webOptions } from "./loopback-certificate.ts";

const LINES = 5_000;

interface Opened {
  headers: Readonly<Record<string, unknown>>;
  body: Readable;
  close(): void;
}

describe("an answer", () => {
  let server: HttpServer;
  let body: AnswerBody = "";
  let status = 200;
  let headers: AnswerHeaders = {};
  let ca = "";

  beforeAll(async () => {
    const { authority, serving } = await issueLoopbackCertificate();
    ca = authority.certificatePem;
    server = await listenHttp(webOptions({ authority, serving }), () => ({ status, headers, body }));
  });
  afterAll(async () => await server.close());

  const openHttp1 = async (method: string): Promise<Opened> => {
    const agent = new Agent();
    const call = requestHttp1({ host: "127.0.0.1", port: server.port, method, agent, ca });
    call.end();
    const [response] = await once(call, "response");
    return { headers: response.headers, body: response, close: () => agent.destroy() };
  };

  const openHttp2 = async (method: string): Promise<Opened> => {
    const session = connect(`https://127.0.0.1:${server.port}`, { ca });
    const stream = session.request({ ":method": method });
    const [headers] = await once(stream, "response");
    return { headers, body: stream, close: () => session.destroy() };
  };

  const readAll = async (of: Readable) => {
    const chunks: Buffer[] = [];
    for await (const chunk of of) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };

  const STREAM: AnswerBody = {
    stream(writer) {
      writer.write("one\n");
      writer.write(Buffer.from("two\n"));
      setImmediate(() => {
        writer.write("three\n");
        writer.end();
      });
    },
  };

  const lines = Array.from({ length: LINES }, (_, index) => Buffer.from(`${index} `.padEnd(1_000, "x")));
  const whole = Buffer.concat(lines).toString();

  describe.each([
    ["HTTP/1.1", openHttp1],
    ["HTTP/2", openHttp2],
  ])("over %s", (_version, open) => {
    it("of many chunks arrives whole, says its length, and leaves the chunks as they were", async () => {
      body = lines;
      for (let list = 0; list < 2; list++) {
        const opened = await open("GET");
        expect(opened.headers["content-length"]).toBe(String(whole.length));
        expect(await readAll(opened.body)).toBe(whole);
        opened.close();
      }
      expect(Buffer.concat(lines).toString()).toBe(whole);
    });

    it("to several clients at a time arrives whole at each", async () => {
      body = lines;
      const opened = await Promise.all(Array.from({ length: 6 }, async () => await open("GET")));
      const texts = await Promise.all(opened.map(async (one) => await readAll(one.body)));
      for (const text of texts) expect(text).toBe(whole);
      for (const { close } of opened) close();
    });

    it("to HEAD has the length and no body, and one of status 304 has neither", async () => {
      body = "as long as this";
      const head = await open("HEAD");
      expect(head.headers["content-length"]).toBe("15");
      expect(await readAll(head.body)).toBe("");
      head.close();
      [status, body] = [304, ""];
      const unchanged = await open("GET");
      expect(unchanged.headers["content-length"]).toBeUndefined();
      status = 200;
      unchanged.close();
    });

    it.each<[string, AnswerHeaders, string, string | undefined]>([
      [
        "repeated that may not be",
        { "x-content-type-options": ["nosniff", "nosniff"] },
        "x-content-type-options",
        "nosniff",
      ],
      ["a date given twice", { date: ["Mon, 01 Jan 2024 00:00:00 GMT", "x"] }, "date", "Mon, 01 Jan 2024 00:00:00 GMT"],
      ["with a line break", { "x-text": "one\r\nset-cookie: two" }, "x-text", "one  set-cookie: two"],
      ["with text of no Latin", { "x-text": "日本" }, "x-text", Buffer.from("日本").toString("latin1")],
      ["with an address of no Latin", { location: "日本 a/\n" }, "location", "%E6%97%A5%E6%9C%AC%20a/%0A"],
      ["whose name is none", { "bad name": "x", "x-good": "y" }, "bad name", undefined],
    ])("has a header %s, and is given all the same", async (_what, given, name, expected) => {
      const bodies: AnswerBody[] = ["text", { source: Readable.from(["text"]) }, STREAM];
      for (body of bodies) {
        headers = { ...given, "x-last": "here" };
        const opened = await open("GET");
        // A client of HTTP/1.1 joins what was sent twice.
        const [value] = [opened.headers[name]].flat();
        expect(typeof value === "string" ? value.slice(0, expected?.length) : value).toBe(expected);
        expect(opened.headers).toMatchObject({ "x-last": "here" });
        expect(opened.headers["set-cookie"]).toBeUndefined();
        expect(await readAll(opened.body)).toMatch(/^text$|^one\n/);
        opened.close();
      }
      headers = {};
    });

    it("that streams waits for a client that does not read, and then goes on in order", async () => {
      const writers: AnswerWriter[] = [];
      body = { stream: (writer) => void writers.push(writer) };
      const opened = await open("GET");
      const [writer] = writers;
      if (writer === undefined) throw new Error("the answer has no writer");
      opened.body.pause();
      for (let round = 0; round < 4; round++) for (const line of lines) writer.write(line);
      await new Promise((resolve) => setImmediate(resolve));
      expect(writer.bufferedBytes).toBeGreaterThan(whole.length);
      writer.write("the end");
      writer.end();
      writer.write("after the end");
      expect(await readAll(opened.body)).toBe(`${whole.repeat(4)}the end`);
      if (!writer.signal.aborted) await once(writer.signal, "abort");
      expect(writer.bufferedBytes).toBe(0);
      opened.close();
    });
  });

  it("of a kind that HTTP/2 does not know is given as far as it does", async () => {
    headers = { "http2-settings": "AAMAAABkAAQAAP__", "keep-alive": "timeout=5", "x-own": "1" };
    body = "text";
    const opened = await openHttp2("GET");
    expect(opened.headers["x-own"]).toBe("1");
    expect(await readAll(opened.body)).toBe("text");
    opened.close();
    headers = {};
    const source = Readable.from(["nobody reads this"]);
    [status, body] = [999, { source }];
    const refused = await openHttp2("GET");
    expect(refused.headers[":status"]).toBe(502);
    expect(source.destroyed).toBe(true);
    refused.close();
    status = 200;
  });

  it("that streams ends so that HTTP/1.1 goes on with the next on the same connection", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<unknown>();
    for (const expected of ["one\ntwo\nthree\n", "plain", "one\ntwo\nthree\n"]) {
      body = expected === "plain" ? "plain" : STREAM;
      const call = requestHttp1({ host: "127.0.0.1", port: server.port, agent, ca });
      call.end();
      const [response] = await once(call, "response");
      ports.add(response.socket.localPort);
      expect([await readAll(response), response.complete]).toEqual([expected, true]);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it("that streams to HTTP/1.0 is no more than its bytes", async () => {
    body = STREAM;
    const socket = connectTls({ host: "127.0.0.1", port: server.port, ca, ALPNProtocols: ["http/1.1"] });
    socket.write("GET / HTTP/1.0\r\n\r\n");
    const text = await readAll(socket);
    expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe("one\ntwo\nthree\n");
  });
});
