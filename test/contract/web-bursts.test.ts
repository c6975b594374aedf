import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HTTP_LIMITS, type HttpServer } from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { END_HEADERS, END_STREAM, FRAME, type Frame, frameBytes, PREFACE, requestOf } from "./api/http2-frames.ts";
import { issueLoopbackCertificate, type LoopbackCertificates, webOptions } from "./loopback-certificate.ts";

/** They come in one turn of the event loop or two, and all of them would be served. */
const REQUESTS = 5_000;
/** What a stranger begins in two turns. */
const MOST_SERVED = 2 * 2 * HTTP_LIMITS.maxStrangersStreams + 1;
const TAKEN_BACK = Buffer.from([0, 0, 0, 8]);

describe("a server of HTTP/2 whose clients begin many requests at once", () => {
  let certificates: LoopbackCertificates;
  let server: HttpServer;
  let served = 0;
  beforeAll(async () => {
    certificates = await issueLoopbackCertificate();
    server = await listenHttp(webOptions(certificates), async (request) => {
      served++;
      const [user] = request.header("authorization");
      if (user !== undefined) request.vouch(user);
      return { status: 200, body: "served\n" };
    });
  });
  beforeEach(() => {
    served = 0;
  });
  afterAll(async () => await server.close());

  const connection = () => ({ host: "127.0.0.1", port: server.port, ca: certificates.authority.certificatePem });
  const begun = (stream: number): Frame => {
    return { type: FRAME.headers, flags: END_HEADERS | END_STREAM, stream, payload: requestOf("/") };
  };

  it.each([
    ["are answered", (stream: number) => [begun(stream)]],
    [
      "are taken back (CVE-2023-44487)",
      (stream: number) => [begun(stream), { type: FRAME.reset, stream, payload: TAKEN_BACK }],
    ],
  ])("cuts a stranger off whose thousands of requests %s", async (_what, framesOf) => {
    const socket = connectTls({ ...connection(), ALPNProtocols: ["h2"] }).on("error", () => undefined);
    await once(socket, "secureConnect");
    const frames = Array.from({ length: REQUESTS }, (_, index) => framesOf(2 * index + 1));
    socket.write(Buffer.concat([PREFACE, frameBytes({ type: FRAME.settings }), ...frames.flat().map(frameBytes)]));
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(served).toBeLessThan(MOST_SERVED);
  });

  it.each([
    ["as many of a stranger as may be open", HTTP_LIMITS.maxStrangersStreams, {}],
    ["nine hundred of a user", 900, { authorization: "somebody" }],
  ])("answers %s", async (_who, count, headers) => {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, connection());
    await once(session, "remoteSettings");
    const { maxConcurrentStreams } = session.remoteSettings;
    expect(maxConcurrentStreams).toBe(HTTP_LIMITS.maxStrangersStreams);
    const isTold = "authorization" in headers ? once(session, "remoteSettings") : undefined;
    await ask(session, headers);
    await isTold;
    await Promise.all(Array.from({ length: count }, async () => await ask(session, headers)));
    session.destroy();
    expect(served).toBe(count + 1);
  });
});

async function ask(session: ClientHttp2Session, headers: Record<string, string>): Promise<void> {
  await once(session.request({ ":path": "/", ...headers }).resume(), "end");
}
