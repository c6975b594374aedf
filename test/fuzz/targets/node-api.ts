import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import type { Pod } from "../../../src/api/gen/types.ts";
import { podFullName } from "../../../src/api/pods.ts";
import { type Log, silentLog } from "../../../src/base/log.ts";
import * as cri from "../../../src/cri/gen/cri-v1.ts";
import { createFakeHost } from "../../../src/host/fake/create-fake-host.ts";
import { linuxFiles } from "../../../src/host/linux/files/linux-files.ts";
import { acceptWebSocket } from "../../../src/host/linux/network/accept-web-socket.ts";
import { listenHttp } from "../../../src/host/linux/network/listen-http.ts";
import { systemClock } from "../../../src/host/linux/system/system-clock.ts";
import type { UpgradeResult } from "../../../src/host/upgrade-call.ts";
import { createSystemLogsEndpoint } from "../../../src/node/runtime/logs/system-logs-endpoint.ts";
import { createCarriedStreams } from "../../../src/node/runtime/streaming/carried-streams.ts";
import { createStreamingEndpoints } from "../../../src/node/runtime/streaming/streaming-endpoints.ts";
import { createNodeApi } from "../../../src/node/server/node-api.ts";
import { issueLoopbackCertificate } from "../../contract/loopback-certificate.ts";
import { promise, type RunningTarget, type Target } from "../target.ts";
import { sendAndLeave } from "./api-server.ts";

const POD: Pod = { metadata: { name: "web", namespace: "ns", uid: "u1" }, spec: { containers: [{ name: "main" }] } };
const USER = { name: "admin", groups: [], extra: {} };
const OTHERS_EVERY = 8;
const upgrade = (line: string, to: string) =>
  `${line} HTTP/1.1\r\nHost: n\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\n`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: n\r\n\r\n`;

/** The bytes of connections to a node's own API: heads, paths, logs by file, and streams that are carried to a runtime. */
export const nodeApiTarget: Target = {
  name: "node-api",
  runs: 208,
  seeds: [
    get("/logs/") + get("/logs/a.log") + get("/logs/%E6%97%A5%E6%9C%AC/"),
    `GET /logs/a.log HTTP/1.1\r\nHost: n\r\nRange: bytes=1-3,5-\r\nIf-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n`,
    get("/logs/?query=kubelet&tailLines=5&sinceTime=2026-01-02T03:04:05Z"),
    `${upgrade("POST /exec/ns/web/main?command=sh&input=1&output=1", "SPDY/3.1")}X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n\x80\x03\x00\x01hello`,
    `${upgrade("GET /attach/ns/web/main?output=1", "websocket")}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n\x82\x85`,
    `${upgrade("GET /exec/ns/web/main?input=1&output=1", "websocket")}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n\x82\x83\0\0\0\0\0in`,
    `${upgrade("GET /portForward/ns/web", "websocket")}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n\r\n\x82\x83\0\0\0\0\x80\x03\0`,
    `${upgrade("POST /portForward/ns/web", "SPDY/3.1")}X-Stream-Protocol-Version: portforward.k8s.io\r\n\r\nbytes`,
    `POST /run/ns/web/main?cmd=ls%20-l HTTP/1.1\r\nHost: n\r\nContent-Length: 0\r\n\r\n${get("/pods")}`,
    get("/configz") + get("/metrics/cadvisor") + get("/containerLogs/ns/web/main?follow=true"),
  ],
  words: [
    ...[
      "\r\n",
      "\r\n\r\n",
      ": ",
      "%2f",
      "%2e%2e/",
      "..",
      "%00",
      "%0a",
      "//",
      "/logs/",
      "/exec/",
      "?command=",
      "&input=1",
      "&tty=1",
    ],
    ...[
      "Connection: Upgrade\r\n",
      "Upgrade: SPDY/3.1\r\n",
      "Content-Length: 9\r\n",
      "Transfer-Encoding: chunked\r\n",
      "Range: bytes=0-\r\n",
    ],
    ...[
      "Expect: 100-continue\r\n",
      "Authorization: Bearer x\r\n",
      "\0",
      "\xe6\x97\xa5",
      "GET ",
      "POST ",
      "HEAD ",
      " HTTP/1.0\r\n",
    ],
  ],
  batch: 16,
  setUp: setUpNode,
};

async function setUpNode(): Promise<RunningTarget> {
  const bugs: string[] = [];
  const log = createBugLog(bugs);
  const directory = makeLogs();
  const { authority, serving } = await issueLoopbackCertificate();
  const stop = new AbortController();
  const streaming = createStreaming();
  const streams = streaming.run(stop.signal);
  const { programs } = createFakeHost();
  const logs = createSystemLogsEndpoint(
    { files: linuxFiles, log, programs, clock: systemClock },
    { directory, allowsQuery: true },
  );
  const handler = createNodeApi(
    {
      authenticate: async () => ({ kind: "user", user: USER }),
      authorize: async () => true,
      readOnly: ({ path }) => ({ status: path === "/pods" ? 200 : 404, body: path }),
      configz: () => "{}",
      endpoints: { ...streaming.endpoints, "/logs": logs },
      clock: systemClock,
      log,
    },
    { debuggingHandlers: true, systemLogHandler: true },
  );
  const identity = { pair: serving, clientAuthorityPem: authority.certificatePem };
  const at = { address: "127.0.0.1", port: 0 };
  const server = await listenHttp(
    { at, tls: { identity, asksForCertificate: true }, decodesPath: true, readsBodies: false },
    handler,
  );
  const dial = async () => {
    const socket = connect({ host: at.address, port: server.port, ca: authority.certificatePem });
    socket.on("error", () => undefined);
    await once(socket, "secureConnect");
    return socket;
  };
  let runs = 0;
  return {
    async run(input) {
      await sendAndLeave(await dial(), input);
      const [bug] = bugs.splice(0);
      if (bug !== undefined) throw new Error(bug);
      if (runs++ % OTHERS_EVERY === 0) await requireServed(await dial());
    },
    async close() {
      stop.abort();
      await server.close();
      await streams;
      rmSync(directory, { recursive: true });
    },
  };
}

async function requireServed(socket: TLSSocket): Promise<void> {
  socket.write("GET /pods HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
  await once(socket, "close");
  promise(Buffer.concat(chunks).includes(" 200 "), "another client is not answered");
}

/** Names that no header can hold as they are. */
function makeLogs(): string {
  const directory = mkdtempSync(join(tmpdir(), "nodelet-fuzz-logs-"));
  writeFileSync(join(directory, "a.log"), "one\ntwo\nthree\n");
  for (const name of ["日本", "a\nb", "c d"]) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, "é\t.log"), "text\n");
  }
  return directory;
}

/** The streams of a pod that runs, on a runtime that echoes them. */
function createStreaming() {
  const url = "http://127.0.0.1:1/stream";
  const answer = async () => ({ url });
  const found = [{ id: "c", createdAt: 1n }];
  return createStreamingEndpoints(
    {
      clock: systemClock,
      carried: createCarriedStreams({ acceptWebSocket, clock: systemClock, log: silentLog }, { idleTimeoutMs: 60_000 }),
      callUpgrade: async (): Promise<UpgradeResult> => {
        const [socket, peer] = duplexPair();
        peer.on("error", () => undefined).pipe(peer);
        const agreed = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
        return { kind: "upgraded", headers: agreed, socket };
      },
      pods: { byFullName: (name) => (name === podFullName(POD) ? POD : undefined), resolveUid: (uid) => uid },
      runtime: {
        listContainers: async () => cri.ListContainersResponse.fromPartial({ containers: found }),
        listPodSandbox: async () => cri.ListPodSandboxResponse.fromPartial({ items: found }),
        exec: answer,
        attach: answer,
        portForward: answer,
        execSync: async () => cri.ExecSyncResponse.fromPartial({}),
      },
    },
    { idleTimeoutMs: 60_000, maxStreams: 100 },
  );
}

function createBugLog(bugs: string[]): Log {
  const log: Log = {
    error: (message, fields) => void bugs.push(`${message}: ${JSON.stringify(fields)}`),
    warn: () => undefined,
    info: () => undefined,
    debug: () => undefined,
    with: () => log,
  };
  return log;
}
