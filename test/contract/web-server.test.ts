import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { Agent, request as requestHttp1 } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnswerWriter, HttpServer, HttpServerOptions, ServedRequest } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { createCertificateAuthority, issueCertificate } from "../../src/pki/issue-certificate.ts";
import { webOptions } from "./loopback-certificate.ts";

const DAY_MS = 86_400_000;
const MAX_BYTES = 100_000;

interface Answered {
  status: number;
  headers: IncomingHttpHeaders | NodeJS.Dict<string | string[]>;
  body: string;
}

type Call = (path: string, options?: { method?: string; body?: Buffer; client?: boolean }) => Promise<Answered>;

describe("an HTTPS server", () => {
  let server: HttpServer;
  let options: HttpServerOptions;
  let pems: Record<"ca" | "cert" | "key" | "clientCert" | "clientKey", string>;
  const writers: AnswerWriter[] = [];
  const seen: ServedRequest[] = [];

  beforeAll(async () => {
    const now = Date.now();
    const authority = await createCertificateAuthority({ commonName: "test", days: 1, now });
    const period = { authority, notBefore: now - DAY_MS, notAfter: now + DAY_MS };
    const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
    const serving = await issueCertificate({
      ...period,
      ...names,
      commonName: "server",
      organizations: [],
      usages: ["server"],
    });
    const client = await issueCertificate({
      ...period,
      dnsNames: [],
      ipAddresses: [],
      commonName: "me",
      organizations: ["one", "two"],
      usages: ["client"],
    });
    pems = {
      ca: authority.certificatePem,
      cert: serving.certificatePem,
      key: serving.keyPem,
      clientCert: client.certificatePem,
      clientKey: client.keyPem,
    };
    options = webOptions({ authority, serving });
    server = await listenHttp(options, async (request) => {
      seen.push(request);
      if (request.path === "/stream")
        return { status: 200, headers: {}, body: { stream: (writer) => writers.push(writer) } };
      if (request.path === "/fail") throw new Error("a bug");
      const body = request.method === "POST" ? await request.readBody(MAX_BYTES).catch(String) : "";
      const answer = { peer: request.peer, length: body.length, text: String(body).slice(0, 60) };
      return {
        status: 200,
        headers: { "x-two": ["a", "b"] },
        body: [Buffer.from(JSON.stringify(answer)), Buffer.from("\n")],
      };
    });
  });
  afterAll(async () => await server.close());

  const credentials = (client: boolean) => ({
    ca: pems.ca,
    ...(client && { cert: pems.clientCert, key: pems.clientKey }),
  });

  const callHttp1: Call = async (path, { method = "GET", body, client = false } = {}) => {
    const call = requestHttp1({
      host: "127.0.0.1",
      port: server.port,
      path,
      method,
      agent: false,
      ...credentials(client),
    });
    // A server may hang up on who goes on sending after it was answered.
    call.on("error", () => undefined);
    call.end(body);
    const [response] = await once(call, "response");
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode, headers: response.headers, body: text };
  };

  const callHttp2: Call = async (path, { method = "GET", body, client = false } = {}) => {
    const session = connect(`https://127.0.0.1:${server.port}`, credentials(client));
    const stream = session.request({ ":path": path, ":method": method });
    stream.end(body);
    const [headers] = await once(stream, "response");
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    session.destroy();
    return { status: headers[":status"], headers, body: text };
  };

  const clientPeer = () => {
    const fingerprint = createHash("sha256").update(new X509Certificate(pems.clientCert).raw).digest("hex");
    const notAfter = Date.parse(new X509Certificate(pems.clientCert).validTo);
    return { kind: "verified", commonName: "me", organizations: ["one", "two"], fingerprint, notAfter };
  };

  describe.each([
    ["HTTP/1.1", callHttp1],
    ["HTTP/2", callHttp2],
  ])("over %s", (_version, call) => {
    it("knows who comes with a certificate, and who does not", async () => {
      const known = await call("/who", { client: true });
      expect(JSON.parse(known.body).peer).toEqual(clientPeer());
      const unknown = await call("/who");
      expect(JSON.parse(unknown.body).peer).toBeUndefined();
      expect(unknown.headers["x-two"]).toBe("a, b");
    });

    it("reads bodies, and answers those that are too long while they are still coming", async () => {
      const read = await call("/", { method: "POST", body: Buffer.alloc(MAX_BYTES, "x") });
      expect(JSON.parse(read.body).length).toBe(MAX_BYTES);
      const tooLong = await call("/", { method: "POST", body: Buffer.alloc(40 * MAX_BYTES, "x") });
      expect(JSON.parse(tooLong.body).text).toMatch(/body is longer than 100000 bytes/);
      const empty = await call("/", { method: "POST" });
      expect(JSON.parse(empty.body).length).toBe(0);
    });

    it("turns a bug in the handler into a 500", async () => {
      expect(await call("/fail")).toMatchObject({ status: 500, body: "a bug\n" });
    });

    it("refuses what is no path", async () => {
      expect(await call("//x")).toMatchObject({ status: 400 });
    });
  });

  it("streams, and tells the writer when the client has gone", async () => {
    const session = connect(`https://127.0.0.1:${server.port}`, credentials(false));
    const stream = session.request({ ":path": "/stream" });
    await once(stream, "response");
    const writer = writers.at(-1);
    writer?.write("one\n");
    const [chunk] = await once(stream, "data");
    expect(String(chunk)).toBe("one\n");
    expect(writer?.signal.aborted).toBe(false);
    const gone = new Promise((resolve) => writer?.signal.addEventListener("abort", resolve));
    session.destroy();
    await gone;
    expect(seen.at(-1)?.signal.aborted).toBe(true);
    writer?.write("nobody reads this");
    writer?.end();
  });

  it.each([
    ["with a certificate", true],
    ["without one", false],
  ])("resumes no TLS session, so that each connection is judged by itself, of a client %s", async (_how, isKnown) => {
    const peer = isKnown ? clientPeer() : undefined;
    const agent = new Agent({ keepAlive: false });
    const call = async () => {
      const request = requestHttp1({
        host: "127.0.0.1",
        port: server.port,
        path: "/who",
        agent,
        ...credentials(isKnown),
      });
      request.end();
      const [response] = await once(request, "response");
      const isResumed: boolean = response.socket.isSessionReused();
      let text = "";
      for await (const chunk of response) text += String(chunk);
      return { isResumed, peer: JSON.parse(text).peer };
    };
    expect(await call()).toEqual({ isResumed: false, peer });
    expect(await call()).toEqual({ isResumed: false, peer });
  });

  it("says that its port is taken, and what to do", async () => {
    const second = listenHttp({ ...options, at: { address: "127.0.0.1", port: server.port } }, async () => ({
      status: 200,
      headers: {},
      body: "",
    }));
    await expect(second).rejects.toThrow(/cannot listen on 127.0.0.1:\d+: .*another process listens there/);
  });

  it("ends streams that are open when it closes", async () => {
    const other = await listenHttp(options, async () => {
      return { status: 200, headers: {}, body: { stream: (writer) => writer.write("x") } };
    });
    const session = connect(`https://127.0.0.1:${other.port}`, credentials(false));
    session.on("error", () => undefined);
    const stream = session.request({ ":path": "/" });
    stream.on("error", () => undefined);
    await once(stream, "data");
    const closed = once(session, "close");
    await other.close();
    await closed;
  });
});
