import { KeyObject, webcrypto } from "node:crypto";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeAll, expect, it } from "vitest";
import type {
  HttpHandler,
  HttpServer,
  HttpServerOptions,
  ServerTls,
  ServingIdentity,
} from "../../src/host/http-server.ts";
import { listenHttp } from "../../src/host/linux/network/listen-http.ts";
import { createCertificateAuthority, issueCertificate } from "../../src/pki/issue-certificate.ts";
import { loadX509 } from "../../src/pki/load-x509.ts";
import type { KeyedCertificate } from "../../src/pki/read-certificate.ts";
import { importSigningKey } from "../../src/pki/signing-key.ts";

const ADDRESS = "127.0.0.1";
const DAY_MS = 86_400_000;
const servers: HttpServer[] = [];
let ours: KeyedCertificate;
let others: KeyedCertificate;
let pair: KeyedCertificate;
beforeAll(async () => {
  const now = Date.now() - DAY_MS;
  ours = await createCertificateAuthority({ commonName: "ours", days: 9, now });
  others = await createCertificateAuthority({ commonName: "others", days: 9, now });
  pair = await issue(ours, "node", ["server"]);
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function issue(authority: KeyedCertificate, commonName: string, usages: ReadonlyArray<"server" | "client">) {
  const period = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS };
  return await issueCertificate({ commonName, organizations: ["a", "b"], usages, authority, ...period });
}

/** Tells what it sees. */
const echo: HttpHandler = (request) => {
  const { path, query, peer } = request;
  const authorization = request.header("authorization")[0];
  return { status: 200, body: JSON.stringify({ path, q: query.get("q"), authorization, peer }) };
};

interface Listening {
  options?: Partial<ServerTls> & { port?: number };
  identity?: Partial<ServingIdentity>;
  handler?: HttpHandler;
  takes?: HttpServerOptions["takes"];
}

async function listen({ options = {}, identity, handler = echo, takes }: Listening = {}) {
  const bad: string[] = [];
  const { port = 0, ...tls } = options;
  const shown = { pair, clientAuthorityPem: ours.certificatePem, ...identity };
  const server = await listenHttp(
    {
      at: { address: ADDRESS, port },
      tls: { minVersion: "TLSv1.2", asksForCertificate: true, identity: shown, ...tls },
      ...{ decodesPath: true, readsBodies: false, onBadConnection: (reason: string) => bad.push(reason) },
      ...(takes && { takes }),
    },
    handler,
  );
  servers.push(server);
  return { ...server, bad };
}

interface Asking {
  client?: KeyedCertificate;
  method?: string;
  headers?: Record<string, string>;
}

async function ask(port: number, path: string, { client, method = "GET", headers = {} }: Asking = {}) {
  const shown = client && { cert: client.certificatePem, key: client.keyPem };
  return await new Promise<{ status: number; body: string; connection: string | undefined }>((resolve, reject) => {
    const where = { host: ADDRESS, port, path, method, headers, agent: false, rejectUnauthorized: false };
    const call = request({ ...where, ...shown }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      const { connection } = response.headers;
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body, connection }));
    });
    call.on("error", reject);
    call.end();
  });
}

async function handshake(port: number, options: object = {}): Promise<TLSSocket> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ host: ADDRESS, port, rejectUnauthorized: false, ...options }, () => resolve(socket));
    socket.on("error", reject);
  });
}

it("hands over the path decoded, the query and the token", async () => {
  const { port } = await listen();
  const { body } = await ask(port, "/%70ods?q=1%2F2", { headers: { authorization: "Bearer t" } });
  expect(JSON.parse(body)).toEqual({ path: "/pods", q: "1/2", authorization: "Bearer t" });
});

it("cuts connections that it does not take, before it reads anything of them", async () => {
  const seen: string[][] = [];
  const takes = (...addresses: [string, string]) => {
    seen.push(addresses);
    return seen.length > 1;
  };
  const { port, bad } = await listen({ takes });
  await expect(ask(port, "/")).rejects.toThrow(/ECONNRESET|socket hang up|disconnected/);
  expect(await ask(port, "/")).toMatchObject({ status: 200 });
  expect(seen).toEqual([
    [ADDRESS, ADDRESS],
    [ADDRESS, ADDRESS],
  ]);
  expect(bad).toHaveLength(1);
});

it.each(["/%", "/%ff", "*"])("refuses the target %s", async (path) => {
  const { port } = await listen();
  expect(await ask(port, path, { method: "OPTIONS" })).toMatchObject({ status: 400 });
});

it("believes certificates of its authorities and of no others", async () => {
  const { port } = await listen();
  const seen = async (client?: KeyedCertificate): Promise<unknown> => {
    const { body } = await ask(port, "/", client === undefined ? {} : { client });
    return JSON.parse(body).peer;
  };
  expect(await seen()).toBeUndefined();
  expect(await seen(await issue(ours, "alice", ["client"]))).toEqual({
    kind: "verified",
    commonName: "alice",
    organizations: ["a", "b"],
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    notAfter: expect.any(Number),
  });
  expect(await seen(await issue(others, "alice", ["client"]))).toMatchObject({ kind: "unverified" });
  expect(await seen(await issue(ours, "alice", ["server"]))).toMatchObject({ kind: "unverified" });
});

it("believes no certificate with two common names, of which readers take this one or that", async () => {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: new x509.Name([{ CN: ["system:node:a"] }, { CN: ["system:node:b"] }]),
    issuer: new x509.X509Certificate(ours.certificatePem).subjectName,
    publicKey: keys.publicKey,
    signingKey: await importSigningKey(ours.keyPem),
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
  });
  const key = KeyObject.from(keys.privateKey).export({ format: "pem", type: "pkcs8" }).toString();
  const { port } = await listen();
  const client = { certificatePem: certificate.toString("pem"), keyPem: key };
  expect(JSON.parse((await ask(port, "/", { client })).body).peer).toEqual({
    kind: "unverified",
    reason: "the subject has more than one common name",
  });
});

it("asks for no certificate where nobody could judge it, and never takes those of the web for its authorities", async () => {
  const { port } = await listen({
    options: { asksForCertificate: false },
    identity: { clientAuthorityPem: undefined },
  });
  const { body } = await ask(port, "/", { client: await issue(ours, "alice", ["client"]) });
  expect(JSON.parse(body).peer).toBeUndefined();
  await expect(listen({ identity: { clientAuthorityPem: undefined } })).rejects.toMatchObject({ code: "no-authority" });
});

it("believes the clients of an authority and of the one that takes its place, and then of the new one alone", async () => {
  const { port, use } = await listen();
  const [old, fresh] = [await issue(ours, "old", ["client"]), await issue(others, "fresh", ["client"])];
  const kinds = async () => {
    const answers = [await ask(port, "/", { client: old }), await ask(port, "/", { client: fresh })];
    return answers.map(({ body }) => JSON.parse(body).peer.kind);
  };
  expect(await kinds()).toEqual(["verified", "unverified"]);
  use({ pair, clientAuthorityPem: ours.certificatePem + others.certificatePem });
  expect(await kinds()).toEqual(["verified", "verified"]);
  use({ pair: await issue(others, "node", ["server"]), clientAuthorityPem: others.certificatePem });
  expect(await kinds()).toEqual(["unverified", "verified"]);
});

it("serves nobody until it has a certificate, and then by that", async () => {
  const { port, use, bad } = await listen({ identity: { pair: undefined } });
  await expect(handshake(port)).rejects.toThrow();
  expect(bad).toEqual(["TLS handshake error: no serving certificate available for the kubelet"]);
  use({ pair, clientAuthorityPem: ours.certificatePem });
  expect(await ask(port, "/")).toMatchObject({ status: 200 });
});

it("takes the next certificate and other authorities without a new start", async () => {
  const { port, use } = await listen();
  const alice = await issue(ours, "alice", ["client"]);
  const next = await issue(others, "next", ["server"]);
  const [kept, idle] = [
    await handshake(port, { cert: alice.certificatePem, key: alice.keyPem }),
    await handshake(port),
  ];
  use({ pair: next, clientAuthorityPem: others.certificatePem });
  const fresh = await handshake(port);
  expect(fresh.getPeerX509Certificate()?.subject).toContain("CN=next");
  expect(JSON.parse((await ask(port, "/", { client: alice })).body).peer).toMatchObject({ kind: "unverified" });
  // What was open before ends with its next answer.
  kept.write("GET / HTTP/1.1\r\nHost: n\r\n\r\n");
  const ended = await new Promise<string>((resolve) => {
    let text = "";
    kept.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    kept.on("end", () => resolve(text));
    kept.on("close", () => resolve(text));
  });
  expect(ended === "" || /connection: close/i.test(ended)).toBe(true);
  for (const socket of [fresh, idle]) socket.destroy();
});

it("goes on with the old identity where TLS cannot use the new one", async () => {
  const { port, use } = await listen();
  expect(() => use({ pair: { ...pair, keyPem: "no key" }, clientAuthorityPem: ours.certificatePem })).toThrow();
  expect(await ask(port, "/")).toMatchObject({ status: 200 });
});

it("speaks no older TLS than it is told, and with no other ciphers", async () => {
  const newest = await listen({ options: { minVersion: "TLSv1.3" } });
  await expect(handshake(newest.port, { maxVersion: "TLSv1.2" })).rejects.toThrow();
  const one = await listen({ options: { ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" } });
  const other = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384" };
  await expect(handshake(one.port, other)).rejects.toThrow();
  const socket = await handshake(one.port, { ...other, ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" });
  expect(socket.getProtocol()).toBe("TLSv1.2");
  socket.destroy();
});

it("reads no more than so much of headers, and no body", async () => {
  let served = 0;
  const handler: HttpHandler = (asked) => {
    served++;
    return echo(asked);
  };
  const { port } = await listen({ handler });
  // The connection may be gone before the client has read why.
  const large = await ask(port, "/", { headers: { authorization: "x".repeat(70_000) } }).catch(() => undefined);
  expect([undefined, 431]).toContain(large?.status);
  expect(served).toBe(0);
  const withBody = await ask(port, "/", { method: "POST", headers: { "content-length": "1000000" } });
  expect(withBody).toMatchObject({ status: 200, connection: "close" });
});

it("outlives what is no TLS, and clients that leave", async () => {
  let tell = () => {};
  let begin = () => {};
  const gone = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const handler: HttpHandler = async ({ signal }) => {
    begin();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    tell();
    return { status: 200, body: "" };
  };
  const { port, bad } = await listen({ handler });
  const plain = connectPlain(port, ADDRESS);
  plain.on("error", () => undefined);
  plain.write("GET / HTTP/1.1\r\n\r\n");
  await new Promise((resolve) => plain.once("close", resolve));
  expect(bad).toEqual([expect.stringMatching(/^TLS handshake error: /)]);
  const leaving = await handshake(port);
  leaving.write("GET / HTTP/1.1\r\nHost: n\r\n\r\n");
  await asked;
  leaving.destroy();
  await gone;
});

it("ends every connection when it closes: idle, in a handshake, waiting for an answer", async () => {
  const { port, close } = await listen({ handler: async () => await new Promise(() => undefined) });
  const [half, idle, waiting] = [connectPlain(port, ADDRESS), await handshake(port), await handshake(port)];
  waiting.write("GET / HTTP/1.1\r\nHost: n\r\n\r\n");
  const closed = [half, idle, waiting].map(async (socket) => {
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("close", resolve));
  });
  await close();
  await Promise.all(closed);
});

it("says which address is taken, and what to do", async () => {
  const { port } = await listen();
  await expect(listen({ options: { port } })).rejects.toMatchObject({
    code: "listen-failed",
    message: expect.stringMatching(new RegExp(`^cannot listen on ${ADDRESS}:${port}: .*choose another port$`)),
  });
});
