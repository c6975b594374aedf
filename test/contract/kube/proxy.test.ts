import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { getNode, useSmallWorld } from "./small-client.ts";
import { answerJson, NODE, smallCertificates } from "./small-server.ts";

const world = useSmallWorld();
afterEach(() => vi.unstubAllEnvs());

interface SeenConnect {
  readonly target: string;
  readonly authorization: string | undefined;
}

/** A proxy that lets everybody through to `port`, or nobody. */
async function startProxy(port: number, { refuse = false, tls = false } = {}) {
  const { serving } = await smallCertificates();
  const seen: SeenConnect[] = [];
  const sockets = new Set<Socket>();
  const server = tls ? createHttpsServer({ cert: serving.certificatePem, key: serving.keyPem }) : createServer();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.on("connect", (request, near) => {
    seen.push({ target: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    if (refuse) {
      near.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const far = connect(port, "127.0.0.1", () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.once("close", () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  world.later(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return { host: `127.0.0.1:${address.port}`, seen };
}

const serve = async () => await world.serve((_, response) => answerJson(response, 200, NODE));

describe("a proxy", () => {
  it("of the kubeconfig is gone through, by CONNECT, with its password", async () => {
    const server = await serve();
    const proxy = await startProxy(server.port);
    const connection = { proxyUrl: `http://me:s%3Acret@${proxy.host}` };
    const client = await world.connect(server.url, { connection });
    await getNode(client);
    await getNode(client);
    const authorization = `Basic ${Buffer.from("me:s:cret").toString("base64")}`;
    expect(proxy.seen).toEqual([{ target: `127.0.0.1:${server.port}`, authorization }]);
    expect(server.requests[0]?.httpVersion).toBe("2.0");
  });

  it("of the environment is gone through, but not for what it excepts", async () => {
    const server = await serve();
    const proxy = await startProxy(server.port);
    vi.stubEnv("HTTPS_PROXY", `http://${proxy.host}`);
    vi.stubEnv("NO_PROXY", "excepted.example.com");
    const connection = { tlsServerName: "kubernetes" };
    await getNode(await world.connect("https://api.example.com:6443", { connection }));
    expect(proxy.seen).toEqual([{ target: "api.example.com:6443", authorization: undefined }]);
    // Loopback is never proxied.
    await getNode(await world.connect(server.url));
    expect(proxy.seen).toHaveLength(1);
  });

  it("that refuses is named, and its password is not", async () => {
    const proxy = await startProxy(1, { refuse: true });
    const connection = { proxyUrl: `http://me:canary@${proxy.host}` };
    const client = await world.connect("https://127.0.0.1:6443", { connection });
    const failure = await getNode(client).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "unreachable",
      message: expect.stringContaining(`proxy ${proxy.host}: answered CONNECT 127.0.0.1:6443 with 407`),
    });
    expect(String(failure)).not.toContain("canary");
  });

  it("of another kind is refused", async () => {
    vi.stubEnv("HTTPS_PROXY", "socks4://proxy.example.com:1080");
    const client = await world.connect("https://api.example.com:6443");
    await expect(getNode(client)).rejects.toMatchObject({
      message: expect.stringContaining("only http, https and socks5 proxies are supported"),
    });
  });

  it("that speaks TLS must prove who it is", async () => {
    const server = await serve();
    const proxy = await startProxy(server.port, { tls: true });
    const client = await world.connect(server.url, { connection: { proxyUrl: `https://${proxy.host}` } });
    await expect(getNode(client)).rejects.toMatchObject({ message: expect.stringMatching(/certificate/) });
    expect(proxy.seen).toEqual([]);
  });
});
