import type { Target } from "../target.ts";
import { sendAndLeave, startApiServer } from "./api-server.ts";

const GET = "GET /api/v1/namespaces/default HTTP/1.1\r\nHost: x\r\n\r\n";
const BODY = '{"metadata":{"name":"a"}}';
const POST = `POST /api/v1/namespaces/default/configmaps?dryRun=All HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
/** What costs a server more to read than a client to send. */
const BYTE_BY_BYTE = "1\r\na\r\n".repeat(20_000);
const OTHERS_EVERY = 8;

/** The bytes of connections of HTTP/1.1 to the API server: heads, lengths, chunks, upgrades, requests after requests. */
export const http1Target: Target = {
  name: "http1",
  runs: 64,
  seeds: [
    GET + GET,
    `${POST}Content-Length: ${BODY.length}\r\n\r\n${BODY}${GET}`,
    `${POST}Transfer-Encoding: chunked\r\n\r\n5;a=b\r\n${BODY.slice(0, 5)}\r\n${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}\r\n0\r\nX: y\r\n\r\n`,
    `${POST}Transfer-Encoding: chunked\r\n\r\n${BYTE_BY_BYTE}0\r\n\r\n${GET}`,
    `${POST}Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    "GET /api/v1/namespaces/default/pods/a/exec?command=a&stdout=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n",
    "POST /api/v1/namespaces/default/pods/a/portforward HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n\x80\x03\x00\x01",
    "GET http://x/version HTTP/1.1\r\nHost: y\r\nConnection: close, X\r\n\r\n",
    "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
  ],
  words: [
    ...[
      "\r\n",
      "\r\n\r\n",
      "\n",
      "\r",
      ": ",
      " HTTP/1.1",
      "HTTP/1.0",
      "Transfer-Encoding: chunked\r\n",
      "Content-Length: 5\r\n",
    ],
    ...[
      "Connection: upgrade, close\r\n",
      "Upgrade: h2c\r\n",
      "Expect: 100-continue\r\n",
      "0\r\n\r\n",
      "ffffffff\r\n",
      "\0",
      "\x80",
    ],
    ...[
      "Host: x\r\n",
      "Trailer: a\r\n",
      "OPTIONS * ",
      "CONNECT a:1 ",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "Accept-Encoding: gzip\r\n",
    ],
  ],
  batch: 16,
  setUp: async () => {
    const server = await startApiServer();
    let runs = 0;
    return {
      async run(input) {
        await sendAndLeave(await server.dial("http/1.1"), input);
        server.requireNoBug();
        if (runs++ % OTHERS_EVERY === 0) await server.requireOthersServed();
      },
      settle: async () => await server.requireOthersServed(),
      close: server.close,
    };
  },
};
