import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiClient, createApiClient } from "./client.ts";
import { type ApiServerUnderTest, apiServersUnderTest } from "./harness.ts";
import type { StartedApiServer } from "./kube-apiserver.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const MEBIBYTE = 1024 * 1024;
/** Another client is answered within it meanwhile; a busy machine takes a hundred times as long as an idle one. */
const ANSWER_MS = 15_000;

interface Sent {
  readonly target?: string;
  readonly method?: string;
  readonly headers?: readonly string[];
  /** Its length is told unless the headers tell something else. */
  readonly body?: string | Buffer;
}

const created = (data: string) => `{"metadata":{"generateName":"hostile-"},${data}}`;
const times = (count: number, text: (index: number) => string, separator = ",") =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);
const yaml = (body: string): Sent => ({ headers: ["Content-Type: application/yaml"], body });
const list = (query: string): Sent => ({ method: "GET", target: `${PODS}?${query}` });

/** What is answered, on every server. */
const BODIES: readonly [string, number, Sent][] = [
  ["of more than 3 MiB", 413, { body: created(`"data":{"a":"${"x".repeat(3.5 * MEBIBYTE)}"}`) }],
  ["of which more is kept than etcd takes", 422, { body: created(`"data":{"a":"${"x".repeat(1.2 * MEBIBYTE)}"}`) }],
  ["of lists a hundred thousand deep", 400, { body: created(`"x":${"[".repeat(1e5)}${"]".repeat(1e5)}`) }],
  ["of objects half a million deep", 400, { body: created(`"x":${'{"a":'.repeat(5e5)}1${"}".repeat(5e5)}`) }],
  [
    "of objects nine hundred deep, where nobody looks",
    201,
    { body: created(`"x":${'{"a":'.repeat(9e2)}1${"}".repeat(9e2)}`) },
  ],
  ["of sixty thousand fields that nobody knows", 201, { body: created(times(60_000, (i) => `"k${i}":1`)) }],
  ["of one field ninety thousand times", 201, { body: created(times(90_000, () => '"k":1')) }],
  [
    "of five thousand owners",
    201,
    {
      body: `{"metadata":{"generateName":"hostile-","ownerReferences":[${times(5_000, (i) => `{"apiVersion":"v1","kind":"K${i}","name":"a","uid":"u${i}"}`)}]}}`,
    },
  ],
  ["of a million backslashes", 201, { body: created(`"data":{"a":"${"\\\\".repeat(5e5)}"}`) }],
  [
    "with names of JavaScript's own",
    422,
    {
      body: '{"metadata":{"generateName":"hostile-","labels":{"__proto__":"x","constructor":"y"}},"__proto__":{"polluted":"x"}}',
    },
  ],
  [
    "that is no UTF-8",
    201,
    {
      body: Buffer.concat([
        Buffer.from(created('"data":{"a":"\u0000"}').slice(0, -3).replace("\u0000", "")),
        Buffer.from([0xff, 0xc3]),
        Buffer.from('"}}'),
      ]),
    },
  ],
  ["with a NUL, escaped", 201, { body: created('"data":{"a":"\\u0000"}') }],
  ["with half of a character", 201, { body: created('"data":{"a":"\\ud800"}') }],
  ["that goes on behind its end", 400, { body: `${created('"a":1')} {}` }],
  [
    "that is compressed",
    400,
    { headers: ["Content-Encoding: gzip"], body: gzipSync(Buffer.alloc(30 * MEBIBYTE, "x")) },
  ],
  [
    "of protobuf that ends too early",
    400,
    {
      headers: ["Content-Type: application/vnd.kubernetes.protobuf"],
      body: Buffer.from("k8s\0\x12\xff\xff\xff\xff\x0f", "latin1"),
    },
  ],
  ["of YAML fifty thousand deep", 400, yaml(`metadata: {name: a}\nx: ${"[".repeat(5e4)}${"]".repeat(5e4)}`)],
  ["of YAML that contains itself", 400, yaml("metadata: {name: a}\nx: &a [*a]")],
  ["of YAML that is fifty thousand comments", 201, yaml(`metadata: {generateName: hostile-}\n${"#\n".repeat(5e4)}`)],
  ["that says two lengths", 400, { headers: ["Content-Length: 2", "Content-Length: 30"], body: "{}" }],
  ["of a negative length", 400, { headers: ["Content-Length: -5"], body: "{}" }],
  ["in a coding with a space before its colon", 400, { headers: ["Transfer-Encoding : chunked"], body: "{}" }],
  ["that is expected to be something", 417, { headers: ["Expect: nonsense", "Content-Length: 2"], body: "{}" }],
];

const TARGETS: readonly [string, number, Sent][] = [
  ["with two thousand selectors", 200, list(`labelSelector=${times(2_000, (i) => `k${i}`)}`)],
  ["with a set of three thousand", 200, list(`labelSelector=a+in+(${times(3_000, (i) => `k${i}`)})`)],
  ["with six hundred field selectors", 200, list(`fieldSelector=${times(600, (i) => `metadata.name!=k${i}`)}`)],
  ["with three thousand parameters", 200, list(times(3_000, (i) => `a${i}=b`, "&"))],
  ["with a limit that is no number", 400, list("limit=__proto__")],
  ["with a limit beyond all numbers", 400, list("limit=99999999999999999999")],
  ["of a future that does not come", 504, list("resourceVersion=99999999")],
  ["with a place to go on from that nobody gave", 400, list(`limit=1&continue=${"QUFB".repeat(1_000)}`)],
  ["with a NUL", 400, { method: "GET", target: `${PODS}/a\0b` }],
  ["that climbs", 404, { method: "GET", target: "/api/v1/../../etc/passwd" }],
  ["that climbs out of namespaces", 404, { method: "GET", target: "/api/v1/namespaces/../nodes" }],
  ["with two slashes", 404, { method: "GET", target: "/api//v1/pods" }],
  ["with two slashes further on", 404, { method: "GET", target: "/api/v1//pods" }],
  ["with a slash at its end", 200, { method: "GET", target: "/api/v1/pods/" }],
  [
    "with thirty accepted forms, none of which there is",
    406,
    { method: "GET", target: PODS, headers: [`Accept: ${times(30, () => "a/b;q=0.1")}`] },
  ],
];

describe.each(apiServersUnderTest())("hostile requests, to $name", (candidate: ApiServerUnderTest) => {
  let server: StartedApiServer;
  let admin: ApiClient;

  beforeAll(async () => {
    server = await candidate.start();
    admin = createApiClient(server.admin);
  });
  afterAll(async () => {
    admin.close();
    await server.stop();
  });

  async function open(isNobody = false): Promise<TLSSocket> {
    const { url, caPem, certificatePem = "", keyPem = "" } = server.admin;
    const identity = isNobody ? {} : { cert: certificatePem, key: keyPem };
    const port = Number(new URL(url).port);
    const socket = connect({ host: "127.0.0.1", port, ca: caPem, ALPNProtocols: ["http/1.1"], ...identity });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    return socket;
  }

  /** As it stands, over a connection of its own; returns what came back until the server hung up. */
  async function send({ method = "POST", target = CONFIG_MAPS, headers = [], body = "" }: Sent): Promise<string> {
    const socket = await open();
    const says = (name: string) => headers.some((header) => header.toLowerCase().startsWith(name));
    const length =
      says("content-length") || says("transfer-encoding") ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    const type = says("content-type") ? [] : ["Content-Type: application/json"];
    const head = [`${method} ${target} HTTP/1.1`, "Host: x", "Connection: close", ...headers, ...length, ...type];
    socket.write(`${head.join("\r\n")}\r\n\r\n`, "latin1");
    if (body.length > 0) socket.write(body);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await new Promise((resolve) => socket.once("close", resolve));
    return Buffer.concat(chunks).toString();
  }

  async function expectServed(): Promise<void> {
    const begunAt = performance.now();
    expect(await admin.json("GET", "/api/v1/namespaces/default")).toMatchObject({ status: 200 });
    expect(performance.now() - begunAt).toBeLessThan(ANSWER_MS);
  }

  it.each(BODIES)("a body %s is answered with %i", async (_what, status, sent) => {
    const answering = send(sent);
    await expectServed();
    expect((await answering).slice(0, 40)).toContain(`HTTP/1.1 ${status} `);
  });

  it.each(TARGETS)("a path %s is answered with %i", async (_what, status, sent) => {
    const answering = send(sent);
    await expectServed();
    expect((await answering).slice(0, 40)).toContain(`HTTP/1.1 ${status} `);
  });

  it("answers nobody before it read what they may not send", async () => {
    const socket = await open(true);
    socket.write(`POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{`);
    const [chunk] = await once(socket, "data");
    expect(String(chunk)).toContain("HTTP/1.1 403 ");
    socket.destroy();
  });

  it.each([
    list(`labelSelector=${"a".repeat(2e6)}`),
    { method: "GET", target: PODS, headers: [`X: ${"y".repeat(2e6)}`] },
  ])("refuses two megabytes of headers", async (sent) => {
    // Who goes on writing may find the connection closed before having read why.
    expect((await send(sent)).slice(0, 13)).toMatch(/^(HTTP\/1\.1 431 |$)/);
    await expectServed();
  });

  // Go's library takes the coding and forgets the length, and what follows for the next request.
  it.skipIf(!candidate.isOurs)("takes what two lengths hide for no second request", async () => {
    const socket = await open();
    const hidden = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    const lengths = "Content-Length: 4\r\nTransfer-Encoding: chunked";
    socket.write(`POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\n${lengths}\r\n\r\n0\r\n\r\n${hidden}`);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    await new Promise((resolve) => socket.once("close", resolve));
    const text = Buffer.concat(chunks).toString();
    expect(text).toContain("HTTP/1.1 400 ");
    expect(text).not.toContain("gitVersion");
  });

  it("has kept nothing that changes what objects are", () => {
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
