import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createCertificateAuthority, issueCertificate } from "../../../src/pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../../src/pki/read-certificate.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace } from "./objects.ts";
import { askUpgrade, readLine } from "./upgrade-client.ts";
import { listen } from "./webhook-server.ts";

const DAY_MS = 86_400_000;
const SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const THING = {
  name: "things",
  singularName: "thing",
  namespaced: true,
  kind: "Thing",
  verbs: ["get", "list", "watch"],
};
const DEFINITION = "com.example.things.v1.Thing";

/** What the extension API server was asked. */
interface Asked {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly caller: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

describe.each(apiServersUnderTest())("an aggregated API server, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const asked: Asked[] = [];
  const sockets = new Set<Duplex>();
  const answers = new Map<string, Answer>();
  let extension: Server;
  let authorityPem: string;
  let certificateOf: (authority: KeyedCertificate) => Promise<{ cert: string; key: string }>;
  let first: KeyedCertificate;
  let namespace: string;
  let port: number;
  let count = 0;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    const now = Date.now();
    first = await createCertificateAuthority({ commonName: "extension", days: 1, now });
    authorityPem = first.certificatePem;
    const lifetime = { notBefore: now - DAY_MS, notAfter: now + DAY_MS };
    const named = { commonName: "api", organizations: [], dnsNames: [`api.${namespace}.svc`], ipAddresses: [] };
    certificateOf = async (authority) => {
      const { certificatePem, keyPem } = await issueCertificate({
        ...{ authority, ...lifetime, ...named },
        usages: ["server"],
      });
      return { cert: certificatePem, key: keyPem };
    };
    const tls = { ...(await certificateOf(first)), requestCert: true, rejectUnauthorized: false };
    extension = createServer(tls, (request, response) => {
      const { pathname: path } = new URL(request.url ?? "/", "https://api");
      const caller = request.socket instanceof TLSSocket ? request.socket.getPeerCertificate().subject?.CN : undefined;
      asked.push({ path, headers: request.headers, caller: String(caller) });
      const answer = answers.get(path);
      if (answer) answer(request, response);
      else response.writeHead(404).end();
    });
    extension.on("upgrade", (request, socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
      const { connection, "x-remote-user": user, "x-kept": kept, "x-dropped": dropped } = request.headers;
      socket.write(`${user} ${connection} ${kept} ${dropped} at ${request.url}\n`);
    });
    extension.on("connection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    port = await listen(extension);
    const spec = { type: "ExternalName", externalName: "127.0.0.1" };
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "api" }, spec };
    await server.admin.object("POST", `/api/v1/namespaces/${namespace}/services`, service);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => extension.close(() => resolve()));
  });

  const json =
    (body: object): Answer =>
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
  /** Registers a group of its own for the case; the path of its version. */
  const register = async (
    trust: object,
    verbs = THING.verbs,
  ): Promise<{ group: string; root: string; path: string }> => {
    const group = `things-${String(++count)}.example.com`;
    const root = `/apis/${group}/v1`;
    answers.set(root, json({ kind: "APIResourceList", groupVersion: `${group}/v1`, resources: [{ ...THING, verbs }] }));
    const name = `v1.${group}`;
    const service = { namespace, name: "api", port };
    const spec = { group, version: "v1", groupPriorityMinimum: 1000, versionPriority: 15, service, ...trust };
    await server.admin.object("POST", SERVICES, {
      ...{ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name }, spec },
    });
    return { group, root, path: `${SERVICES}/${name}` };
  };
  const believed = () => ({ caBundle: Buffer.from(authorityPem).toString("base64") });
  const untilCondition = async (path: string, expected: object) => {
    const check = async () => {
      const { status } = await server.admin.object("GET", path);
      expect(status).toMatchObject({ conditions: [{ type: "Available", ...expected }] });
    };
    await vi.waitFor(check, { timeout: 20_000 });
  };

  /** Waits until its requests are passed on: with kube-apiserver, a moment after the condition says so. */
  const untilPassedOn = async (root: string) => {
    const check = async () => expect(await server.admin.json("GET", root)).toMatchObject({ status: 200 });
    await vi.waitFor(check, { timeout: 20_000 });
  };

  it("answers in the user's name, and knows us by our certificate", async () => {
    const { root, path } = await register(believed());
    await untilCondition(path, { status: "True", reason: "Passed" });
    await untilPassedOn(root);
    answers.set(`${root}/things`, json({ kind: "ThingList", items: [] }));
    const forged = { "x-remote-user": "root", "x-remote-extra-a": "b" };
    const { body } = await server.admin.json("GET", `${root}/things`, undefined, { headers: forged });
    expect(body).toEqual({ kind: "ThingList", items: [] });
    const last = asked.findLast((one) => one.path === `${root}/things`);
    expect(last).toMatchObject({
      caller: "front-proxy-client",
      headers: { "x-remote-group": expect.stringContaining("system:masters") },
    });
    expect(last?.headers["x-remote-user"]).not.toBe("root");
    expect(last?.headers["x-remote-extra-a"]).toBeUndefined();
  });

  it("is believed by its authority alone, unless nothing is to be verified", async () => {
    const other = await createCertificateAuthority({ commonName: "other", days: 1, now: Date.now() });
    const { root, path } = await register({ caBundle: Buffer.from(other.certificatePem).toString("base64") });
    await untilCondition(path, { status: "False", reason: "FailedDiscoveryCheck" });
    const check = async () => {
      const refused = await server.admin.json("GET", `${root}/things`);
      expect(refused).toMatchObject({ status: 503, body: "service unavailable\n" });
    };
    await vi.waitFor(check, { timeout: 20_000 });
    // A server that does not answer holds up the namespaces that are deleted.
    await server.admin.object("DELETE", path);
    const trusting = await register({ insecureSkipTLSVerify: true });
    await untilCondition(trusting.path, { status: "True" });
  });

  it("is believed again when its certificate and its authority are others", async () => {
    const { root, path } = await register(believed());
    await untilCondition(path, { status: "True" });
    await untilPassedOn(root);
    const second = await createCertificateAuthority({ commonName: "extension", days: 1, now: Date.now() });
    extension.setSecureContext(await certificateOf(second));
    for (const socket of sockets) socket.destroy();
    const refused = async () => {
      const { status, body } = await server.admin.json("GET", root);
      expect(status).toBe(503);
      expect(JSON.stringify(body)).toMatch(/error trying to reach service: .*certificate|service unavailable/);
    };
    await vi.waitFor(refused, { timeout: 20_000 });
    const caBundle = Buffer.from(second.certificatePem).toString("base64");
    await server.admin.patch("merge", path, { spec: { caBundle } });
    await untilPassedOn(root);
    await untilCondition(path, { status: "True" });
    extension.setSecureContext(await certificateOf(first));
  });

  it("streams watches and takes connections over", async () => {
    const { root, path } = await register(believed());
    await untilCondition(path, { status: "True" });
    await untilPassedOn(root);
    answers.set(`${root}/things`, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`${JSON.stringify({ type: "ADDED", object: { kind: "Thing", metadata: { name: "a" } } })}\n`);
    });
    const watch = await server.admin.watch(`${root}/things`);
    expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
    watch.close();
    const { response, socket } = await askUpgrade(server.credentials, `${root}/namespaces/x/things/a/exec`);
    expect(response.statusCode).toBe(101);
    expect(socket && (await readLine(socket))).toMatch(new RegExp(` at ${root}/namespaces/x/things/a/exec$`));
    socket?.destroy();
  });

  // A kube-apiserver passes the list on, by which a proxy before the other server may drop our own headers.
  it.runIf(candidate.isOurs)(
    "passes no client's list of the headers of its connection on with an upgrade",
    async () => {
      const { root, path } = await register(believed());
      await untilCondition(path, { status: "True" });
      await untilPassedOn(root);
      const headers = { connection: "Upgrade, X-Remote-User, X-Dropped", "x-kept": "kept", "x-dropped": "dropped" };
      const { socket } = await askUpgrade(server.credentials, `${root}/namespaces/x/things/a/exec`, { headers });
      expect(socket && (await readLine(socket))).toMatch(/^\S+ Upgrade kept undefined at /);
      socket?.destroy();
    },
  );

  // A kube-apiserver has no controllers beside it here.
  it.runIf(candidate.isOurs)("deletes what it has of a namespace that is deleted", async () => {
    const { root, path } = await register(believed(), ["delete", "deletecollection", "list"]);
    await untilCondition(path, { status: "True" });
    await untilPassedOn(root);
    const doomed = await newNamespace(server.admin);
    const things = [{ metadata: { name: "a", namespace: doomed } }];
    let caller: unknown;
    answers.set(`${root}/namespaces/${doomed}/things`, (request, response) => {
      if (request.method === "DELETE") {
        caller = request.headers["x-remote-user"];
        things.length = 0;
      }
      json({ kind: "ThingList", items: things })(request, response);
    });
    await server.admin.object("DELETE", `/api/v1/namespaces/${doomed}`);
    const isGone = async () => {
      expect(await server.admin.json("GET", `/api/v1/namespaces/${doomed}`)).toMatchObject({ status: 404 });
    };
    await vi.waitFor(isGone, { timeout: 20_000 });
    expect(things).toEqual([]);
    expect(caller).toBe("system:serviceaccount:kube-system:namespace-controller");
  });

  it.runIf(candidate.isOurs)(
    "keeps an owner of ours that is deleted in the foreground until its own are gone",
    async () => {
      const { root, path } = await register(believed(), ["delete", "list"]);
      await untilCondition(path, { status: "True" });
      await untilPassedOn(root);
      const place = await newNamespace(server.admin);
      const metadata = { name: "owner" };
      const owner = await server.admin.object("POST", `/api/v1/namespaces/${place}/configmaps`, { metadata });
      const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", blockOwnerDeletion: true };
      const ownerReferences = [{ ...reference, uid: owner.metadata.uid }];
      const things = [{ metadata: { name: "a", namespace: place, uid: "u", ownerReferences } }];
      let options: unknown;
      answers.set(`${root}/namespaces/${place}/things`, json({ kind: "ThingList", items: things }));
      answers.set(`${root}/namespaces/${place}/things/a`, (request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          options = JSON.parse(Buffer.concat(chunks).toString());
          json({})(request, response);
        });
      });
      const ownerPath = `/api/v1/namespaces/${place}/configmaps/owner`;
      await server.admin.json("DELETE", ownerPath, { propagationPolicy: "Foreground" });
      await vi.waitFor(() => expect(options).toMatchObject({ preconditions: { uid: "u" } }), { timeout: 20_000 });
      expect(await server.admin.json("GET", ownerPath)).toMatchObject({ status: 200 });
      things.length = 0;
      const isGone = async () => expect(await server.admin.json("GET", ownerPath)).toMatchObject({ status: 404 });
      await vi.waitFor(isGone, { timeout: 20_000 });
    },
  );

  // kube-apiserver has no bound on what it reads of such a document.
  it.runIf(candidate.isOurs)("describes its kinds in our OpenAPI documents, whatever another one sends", async () => {
    const broken = await register({ ...believed() });
    answers.set(`/openapi/v3${broken.root}`, (_request, response) => {
      const more = () => {
        while (response.writable && response.write(" ".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    const { group, root } = await register(believed());
    const names = [{ group, version: "v1", kind: "Thing" }];
    const schema = { type: "object", description: "A thing.", "x-kubernetes-group-version-kind": names };
    const operation = { operationId: "listThings", "x-kubernetes-group-version-kind": names[0] };
    const paths = { [`${root}/things`]: { get: operation }, "/api/v1/pods": { get: { operationId: "forged" } } };
    const pod = "io.k8s.api.core.v1.Pod";
    answers.set(
      `/openapi/v3${root}`,
      json({ openapi: "3.0.0", paths, components: { schemas: { [DEFINITION]: schema } } }),
    );
    answers.set(
      "/openapi/v2",
      json({ swagger: "2.0", paths, definitions: { [DEFINITION]: schema, [pod]: schema, odd: 1 } }),
    );
    const isListed = async () => {
      const { body } = await server.admin.json("GET", "/openapi/v3");
      expect(Object(body).paths).toHaveProperty([`apis/${group}/v1`]);
    };
    await vi.waitFor(isListed, { timeout: 20_000 });
    const { body } = await server.admin.json("GET", `/openapi/v3${root}`);
    expect(body).toMatchObject({ components: { schemas: { [DEFINITION]: { description: "A thing." } } } });
    const { body: merged } = await server.admin.json("GET", "/openapi/v2");
    const { paths: allPaths, definitions } = Object(merged);
    expect(allPaths[`${root}/things`]).toEqual({ get: operation });
    expect(definitions[DEFINITION]).toEqual(schema);
    expect(allPaths["/api/v1/pods"].get.operationId).not.toBe("forged");
    expect(definitions[pod].description).not.toBe("A thing.");
    const protobuf = { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" };
    expect(await server.admin.json("GET", "/openapi/v2", undefined, { headers: protobuf })).toMatchObject({
      status: 200,
    });
  });
});
