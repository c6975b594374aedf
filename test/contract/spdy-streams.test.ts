import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { callUpgrade } from "../../src/host/linux/network/call-upgrade.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { addressOf, pathAndQuery } from "../../src/host/request-url.ts";
import { createSpdyConnection } from "../../src/spdy/create-spdy-connection.ts";
import type { SpdyConnection } from "../../src/spdy/spdy-connection.ts";
import type { SpdyStream } from "../../src/spdy/spdy-stream.ts";
import { createDriver, type Driver } from "./cri-driver.ts";
import { type RuntimeUnderTest, readWhyNoContainerd, startRealRuntime } from "./runtime-under-test.ts";

const MEBIBYTE = 1024 * 1024;

/** Asks a streaming server for SPDY: containerd's is moby/spdystream, which every Go program of Kubernetes speaks it with. */
async function openSpdy(url: string, protocol: string): Promise<SpdyConnection> {
  const headers = { Connection: "Upgrade", Upgrade: "SPDY/3.1", "X-Stream-Protocol-Version": protocol };
  const server = new URL(url);
  const to = { ...addressOf(server), target: pathAndQuery(server) };
  const result = await callUpgrade({ ...to, method: "POST", headers }, new AbortController().signal);
  if (result.kind !== "upgraded") throw new Error(`the server answered ${result.status}: ${await buffer(result.body)}`);
  expect(result.headers["x-stream-protocol-version"]).toBe(protocol);
  return createSpdyConnection(result.socket, { role: "client", clock: systemClock, pingPeriodMs: 5000 });
}

interface Exec {
  readonly connection: SpdyConnection;
  readonly error: SpdyStream;
  readonly streams: Readonly<Record<string, SpdyStream>>;
}

async function readAll(stream: SpdyStream | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => void chunks.push(chunk));
  if (stream !== undefined && !stream.readableEnded) await once(stream, "end");
  return Buffer.concat(chunks);
}

/** Bytes of which none is like its neighbours, so that what is lost or exchanged shows. */
function patternOf(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let offset = 0; offset + 4 <= length; offset += 4) bytes.writeUInt32LE((offset * 2_654_435_761) >>> 0, offset);
  return bytes;
}

const whyNot = await readWhyNoContainerd();
if (whyNot) console.warn(`SKIPPED: SPDY with a Go server, every case of it: ${whyNot}`);

describe.skipIf(whyNot)("SPDY with containerd's streaming server", () => {
  let runtime: RuntimeUnderTest | undefined;
  let driver: Driver | undefined;
  const connections: SpdyConnection[] = [];
  const current = () => {
    if (driver === undefined) throw new Error("the runtime did not start");
    return driver;
  };
  beforeAll(async () => {
    runtime = await startRealRuntime();
    driver = createDriver(runtime);
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) await connection.close();
    await driver?.removeAll();
  });
  afterAll(async () => await runtime?.dispose());

  const exec = async (containerId: string, cmd: string[], { tty = false, stdin = false } = {}): Promise<Exec> => {
    const { cri } = current().runtime;
    const { url } = await cri.runtime.exec({ containerId, cmd, tty, stdin, stdout: true, stderr: !tty });
    const connection = await openSpdy(url, "v4.channel.k8s.io");
    connections.push(connection);
    const error = await connection.openStream({ streamType: "error" });
    const streams: Record<string, SpdyStream> = {};
    for (const streamType of [...(stdin ? ["stdin"] : []), "stdout", tty ? "resize" : "stderr"]) {
      streams[streamType] = await connection.openStream({ streamType });
    }
    return { connection, error, streams };
  };

  const forward = async (podSandboxId: string, port: number) => {
    const { url } = await current().runtime.cri.runtime.portForward({ podSandboxId, port: [port] });
    const connection = await openSpdy(url, "portforward.k8s.io");
    connections.push(connection);
    return connection;
  };

  test("carries eight mebibytes there and back", async () => {
    const { id } = await current().run("sleep 1000");
    const { streams, error } = await exec(id, ["cat"], { stdin: true });
    const sent = patternOf(8 * MEBIBYTE);
    streams["stdin"]?.end(sent);
    const [received, status] = await Promise.all([readAll(streams["stdout"]), readAll(error)]);
    expect(received.equals(sent)).toBe(true);
    expect(JSON.parse(String(status))).toMatchObject({ status: "Success" });
  });

  test("reads both outputs and the exit code", async () => {
    const { id } = await current().run("sleep 1000");
    const { streams, error, connection } = await exec(id, ["sh", "-c", "echo out; echo err >&2; exit 7"]);
    const read = [streams["stdout"], streams["stderr"], error].map(async (stream) => String(await readAll(stream)));
    const [out, err, status = ""] = await Promise.all(read);
    expect([out, err]).toEqual(["out\n", "err\n"]);
    expect(JSON.parse(status)).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "7" }] },
    });
    expect(await connection.closed).toBeUndefined();
  });

  test("reads what comes slower than it is sent, once it does", async () => {
    const { id } = await current().run("sleep 1000");
    const { streams } = await exec(id, ["sh", "-c", "head -c 16777216 /dev/zero"]);
    const stdout = streams["stdout"];
    // Nobody reads: what is on its way fills all buffers between, and waits.
    if (stdout !== undefined) await once(stdout, "readable");
    expect((await readAll(stdout)).length).toBe(16 * MEBIBYTE);
  });

  test("tells a terminal its size", async () => {
    const { id } = await current().run("sleep 1000");
    const { streams } = await exec(
      id,
      ["sh", "-c", "until stty size 2>/dev/null | grep -q '33 111'; do sleep 0.1; done; stty size"],
      {
        tty: true,
        stdin: true,
      },
    );
    streams["resize"]?.write('{"Width":111,"Height":33}\n');
    expect(String(await readAll(streams["stdout"]))).toBe("33 111\r\n");
  });

  test("forwards many connections at once", async () => {
    const { id, sandboxId } = await current().run(["nc", "-ll", "-p", "8080", "-e", "cat"]);
    await current().eventually("the server listens", async () => {
      const cmd = ["sh", "-c", "netstat -ltn | grep -q :8080"];
      const { exitCode } = await current().runtime.cri.runtime.execSync({ containerId: id, cmd, timeout: 10n });
      return exitCode === 0;
    });
    const connection = await forward(sandboxId, 8080);
    const sent = patternOf(MEBIBYTE);
    const talk = async (requestID: string): Promise<Buffer> => {
      const headers = { port: "8080", requestID };
      const error = await connection.openStream({ ...headers, streamType: "error" });
      error.end();
      const data = await connection.openStream({ ...headers, streamType: "data" });
      const received = readAll(data);
      data.end(sent);
      const [bytes, message] = await Promise.all([received, readAll(error)]);
      expect(String(message)).toBe("");
      return bytes;
    };
    const answers = await Promise.all(["0", "1", "2", "3", "4", "5"].map(talk));
    for (const answer of answers) expect(answer.equals(sent)).toBe(true);
  });

  test("is told of a port that nobody listens on", async () => {
    const { sandboxId } = await current().run("sleep 1000");
    const connection = await forward(sandboxId, 9);
    const error = await connection.openStream({ streamType: "error", port: "9", requestID: "0" });
    error.end();
    const data = await connection.openStream({ streamType: "data", port: "9", requestID: "0" });
    data.resume();
    expect(String(await readAll(error))).toContain("connection refused");
  });
});
