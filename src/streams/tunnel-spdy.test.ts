import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { createMetrics } from "../base/metrics.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { acceptWebSocket } from "../host/linux/network/accept-web-socket.ts";
import type { UpgradeResult } from "../host/upgrade-call.ts";
import { connectStreams } from "./__fixtures__/connected-streams.ts";
import { createTunnelClient, OPCODES } from "./__fixtures__/tunnel-client.ts";
import { readRequest } from "./__fixtures__/web-socket-client.ts";
import type { ConnectNode } from "./streams-call.ts";
import { wantsTranslation, wantsTunnel } from "./websocket-request.ts";
import { createWebSocketStreams } from "./websocket-streams.ts";

const PROTOCOL = "SPDY/3.1+portforward.k8s.io";
const AGREED = { Connection: "Upgrade", Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": "portforward.k8s.io" };

async function start({ connect, protocols = [PROTOCOL] }: { connect?: ConnectNode; protocols?: string[] } = {}) {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const { a, b } = connectStreams();
  const { a: nodeEnd, b: node } = connectStreams();
  const reading = readRequest(b);
  const client = createTunnelClient(a, protocols);
  const request = await reading;
  const asked: unknown[] = [];
  const controller = new AbortController();
  const over = createWebSocketStreams({ acceptWebSocket, clock, log: silentLog, metrics }).tunnel({
    request,
    socket: b,
    connect: async (headers, signal) => {
      asked.push(headers);
      if (connect !== undefined) return await connect(headers, signal);
      return { kind: "upgraded", headers: { ...AGREED }, socket: nodeEnd } satisfies UpgradeResult;
    },
    signal: controller.signal,
  });
  return { clock, metrics, client, node, asked, over, controller, request };
}

describe("a WebSocket of port-forward", () => {
  test("carries the bytes of the node's connection both ways", async () => {
    const { client, node, asked, over, metrics, request } = await start();
    expect([wantsTunnel(request), wantsTranslation(request)]).toEqual([true, false]);
    node.once("end", () => node.end());
    node.on("data", (chunk: Buffer) => void node.write(Buffer.concat([Buffer.from("node: "), chunk])));
    client.send(OPCODES.binary, Buffer.from("bytes"));
    await client.until(() => client.received().length > 0);
    expect(client.received().toString()).toBe("node: bytes");
    // The key and what is made of it are those of RFC 6455, section 1.3.
    expect(client.answer()).toContain("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    expect(client.answer()).toContain(`\r\nSec-WebSocket-Protocol: ${PROTOCOL}\r\n`);
    expect(asked).toEqual([
      { Connection: "Upgrade", Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": ["portforward.k8s.io"] },
    ]);
    client.send(OPCODES.close, Buffer.from([3, 232]));
    await over;
    expect(node.readableEnded || node.destroyed).toBe(true);
    expect(await metrics.render()).toContain('apiserver_stream_tunnel_requests_total{code="101"} 1');
  });

  test("delivers what the node said before it hung up", async () => {
    const { client, node, over, clock } = await start();
    const sent = Buffer.alloc(1024 * 1024, "x");
    node.resume();
    node.end(sent);
    await over;
    expect(client.received().equals(sent)).toBe(true);
    expect(client.closeCode()).toBe(1000);
    expect(clock.pendingTimers).toBe(0);
  });

  test("is closed for a text message", async () => {
    const { client, node, over } = await start();
    node.resume();
    node.once("end", () => node.end());
    client.send(OPCODES.text, Buffer.from("text"));
    await over;
    expect(client.closeCode()).toBe(1003);
  });

  test("ends when the server closes", async () => {
    const { client, over, controller, node } = await start();
    node.resume();
    await client.until(() => client.answer().includes("101 Switching Protocols"));
    controller.abort();
    await over;
    expect(node.readableEnded || node.destroyed).toBe(true);
  });

  test.each<[string, ConnectNode, RegExp]>([
    [
      "the node's refusal",
      async () => ({
        kind: "answered",
        status: 404,
        headers: { "content-type": "text/plain", connection: "keep-alive", "content-length": "11" },
        body: Readable.from([Buffer.from("no such pod")]),
      }),
      /^HTTP\/1\.1 404 Not Found\r\ncontent-type: text\/plain\r\ncontent-length: 11\r\nconnection: close\r\n\r\nno such pod$/,
    ],
    [
      "that the node would send the client elsewhere (CVE-2020-8559)",
      async () => ({
        kind: "answered",
        status: 302,
        headers: { location: "https://elsewhere.example.com/" },
        body: Readable.from([Buffer.from("see there")]),
      }),
      /^HTTP\/1\.1 500 (?![\s\S]*elsewhere)[\s\S]*invalid upgrade response: status code 302\n$/,
    ],
    [
      "why the node cannot be reached",
      async () => {
        throw new Error("connect ECONNREFUSED 10.0.0.7:10250");
      },
      /^HTTP\/1\.1 500 [\s\S]*error dialing backend: connect ECONNREFUSED 10\.0\.0\.7:10250\n$/,
    ],
    [
      "that the node speaks something else",
      async () => ({ kind: "upgraded", headers: { upgrade: "websocket" }, socket: connectStreams().a }),
      /^HTTP\/1\.1 500 [\s\S]*unable to upgrade: missing upgrade headers in response\n$/,
    ],
  ])("answers in place of it: %s", async (_what, connect, expected) => {
    const { client, over } = await start({ connect });
    await over;
    expect(client.answer()).toMatch(expected);
  });

  test("is not opened for a client that offers no tunnel", async () => {
    const { client, over, asked, request } = await start({ protocols: ["v4.channel.k8s.io"] });
    await over;
    expect([wantsTunnel(request), asked]).toEqual([false, []]);
    expect(client.answer()).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*unable to upgrade: no tunneling spdy protocols provided\n$/,
    );
  });
});
