import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { acceptWebSocket } from "../host/linux/network/accept-web-socket.ts";
import { connectStreams } from "./__fixtures__/connected-streams.ts";
import { createWebSocketClient, readRequest } from "./__fixtures__/web-socket-client.ts";
import { sendOutput } from "./send-output.ts";

async function start(protocols: readonly string[] = ["binary.k8s.io"]) {
  const { a, b } = connectStreams();
  const client = createWebSocketClient(a, protocols);
  const request = await readRequest(b);
  const output = new PassThrough();
  const stop = new AbortController();
  const deps = { acceptWebSocket, clock: createFakeClock() };
  const over = sendOutput(deps, { request, socket: b, signal: stop.signal }, output);
  const text = () => Buffer.concat([...client.messages]).toString("utf8");
  return { client, output, over, stop, text };
}

test.each([
  ["binary.k8s.io", ["binary.k8s.io"]],
  ["", []],
])("a log comes whole, in messages without channels, as %j", async (protocol, protocols) => {
  const { client, output, over, text } = await start(protocols);
  output.write("one\n");
  await client.until(() => text() === "one\n");
  output.end("two\n");
  expect(await client.closed).toBe(1000);
  expect([text(), client.webSocket.protocol]).toEqual(["one\ntwo\n", protocol]);
  await over;
});

test("a client that goes ends the log", async () => {
  const { client, output, over } = await start();
  await client.until(() => client.messages.length > 0);
  client.webSocket.close();
  await over;
  expect(output.destroyed).toBe(true);
});

test("a log that breaks, or a server that closes, is no whole log", async () => {
  const broken = await start();
  broken.output.destroy(new Error("broken"));
  expect(await broken.client.closed).toBe(1001);
  const stopped = await start();
  stopped.stop.abort();
  expect(await stopped.client.closed).toBe(1001);
  await Promise.all([broken.over, stopped.over]);
});

test("a protocol that is not spoken is refused, and the log is not read", async () => {
  const { client, output, over } = await start(["base64.binary.k8s.io"]);
  await expect(client.closed).rejects.toThrow("400");
  await over;
  expect(output.destroyed).toBe(true);
});
