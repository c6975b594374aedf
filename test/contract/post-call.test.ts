import { once } from "node:events";
import { createServer } from "node:https";
import { expect, it } from "vitest";
import { createPostCall } from "../../src/host/linux/network/post-kept.ts";
import { NAMELESS } from "./api/nameless-certificates.ts";
import { issueLoopbackCertificate } from "./loopback-certificate.ts";

it("a kept connection is judged once, and nothing reaches a server that is not believed", async () => {
  const { authority, serving } = await issueLoopbackCertificate();
  let requests = 0;
  const server = createServer({ cert: serving.certificatePem, key: serving.keyPem }, (request, response) => {
    requests++;
    request.resume().once("end", () => response.end("heard"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  let connections = 0;
  server.on("connection", () => connections++);
  const warnings: string[] = [];
  const note = ({ message }: Error) => warnings.push(message);
  process.on("warning", note);
  const stop = new AbortController();
  const post = {
    address: "127.0.0.1",
    port,
    serverName: "127.0.0.1",
    target: "/",
    headers: {},
    text: "{}",
    maxBytes: 99,
  };
  const call = createPostCall(stop.signal);
  try {
    // Eleven listeners on one connection would be warned of.
    for (let index = 0; index < 12; index++) {
      expect(await call({ ...post, ca: authority.certificatePem }, stop.signal)).toEqual({
        status: 200,
        text: "heard",
      });
    }
    expect({ connections, warnings }).toEqual({ connections: 1, warnings: [] });
    await expect(call({ ...post, ca: undefined }, stop.signal)).rejects.toMatchObject({ code: "call-failed" });
    expect(requests).toBe(12);
  } finally {
    process.off("warning", note);
    stop.abort();
    server.close();
  }
});

// Node.js offers a server the session of a connection before, in which the server shows no certificate.
it("a server whose certificate OpenSSL does not believe is judged anew on each connection", async () => {
  const { authority, serving } = NAMELESS;
  const server = createServer({ cert: serving.certificatePem, key: serving.keyPem }, (request, response) => {
    request.resume().once("end", () => response.writeHead(200, { connection: "close" }).end("heard"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const stop = new AbortController();
  const place = { address: "127.0.0.1", port, serverName: "127.0.0.1", target: "/", headers: {}, text: "{}" };
  const call = createPostCall(stop.signal);
  try {
    for (let index = 0; index < 3; index++) {
      const heard = await call({ ...place, maxBytes: 99, ca: authority.certificatePem }, stop.signal);
      expect(heard).toEqual({ status: 200, text: "heard" });
    }
  } finally {
    stop.abort();
    server.close();
  }
});
