import { once } from "node:events";
import type { Duplex } from "node:stream";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { connectStreams } from "../../../src/spdy/__fixtures__/connected-streams.ts";
import { createSpdyConnection } from "../../../src/spdy/create-spdy-connection.ts";
import type { SpdyStream } from "../../../src/spdy/spdy-stream.ts";
import { promise, type Target } from "../target.ts";

const CLIENT = 0;
const SERVER = 1;
/** A client learns of rubbish before this, in the time of the clock, which stands still but for it. */
const CLOSE_MS = 120_000;

/** The first byte says which end reads the rest, and in pieces of which length it comes. */
const roleOf = (input: Buffer) => ((input[0] ?? 0) % 2 === CLIENT ? "client" : "server");

/** SPDY/3.1 from a peer of either kind: kubectl, a Go kubelet, a container runtime. */
export const spdyTarget: Target = {
  name: "spdy",
  runs: 1_536,
  seeds: await recordSeeds(),
  words: [
    ...[Buffer.from([0x80, 3, 0, 1]), Buffer.from([0x80, 3, 0, 2]), Buffer.from([0x80, 3, 0, 3])],
    ...[Buffer.from([0x80, 3, 0, 4]), Buffer.from([0x80, 3, 0, 6]), Buffer.from([0x80, 3, 0, 7])],
    ...[
      Buffer.from([0x80, 3, 0, 9, 0, 0, 0, 8, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff]),
      Buffer.from([0, 0, 0, 1, 1, 0, 0, 0]),
    ],
  ],
  maxBytes: 256 * 1024,
  setUp: async () => ({
    async run(input) {
      const { a, b } = connectStreams(() => 1 + ((input[0] ?? 0) >> 1) * 97 + (input.length >> 8));
      const clock = createFakeClock();
      const role = roleOf(input);
      const connection = createSpdyConnection(b, { role, clock, onStream: echo, idleTimeoutMs: 60_000 });
      if (role === "client") void connection.openStream({ streamType: "data" }).then(echo, () => undefined);
      a.on("error", () => undefined).resume();
      if (!a.write(input.subarray(1))) await Promise.race([once(a, "drain"), once(a, "close"), connection.closed]);
      await clock.settle();
      a.end();
      await connection.close();
      await clock.advance(CLOSE_MS);
      await connection.closed;
      promise(connection.streamCount === 0, `${connection.streamCount} streams are left`);
      promise(clock.pendingTimers === 0, `${clock.pendingTimers} timers are left`);
      a.destroy();
    },
  }),
};

function echo(stream: SpdyStream): void {
  stream.on("error", () => undefined);
  stream.pipe(stream);
}

/** What a client and a server of ours say in a short conversation. */
async function recordSeeds(): Promise<Buffer[]> {
  const { a, b } = connectStreams();
  const said: Record<"client" | "server", Buffer[]> = { client: [], server: [] };
  record(a, said.client);
  record(b, said.server);
  const clock = createFakeClock();
  const client = createSpdyConnection(a, { role: "client", clock });
  const server = createSpdyConnection(b, { role: "server", clock, onStream: echo });
  const streams = await Promise.all(
    ["error", "stdin", "data"].map((streamType) => client.openStream({ streamType, port: "80", requestID: "1" })),
  );
  for (const stream of streams) {
    stream.on("error", () => undefined).resume();
    stream.end(`hello in ${stream.id}`);
  }
  await clock.settle();
  await Promise.all([client.close(), server.close()]);
  const seed = (pieces: readonly Buffer[], first: number) => Buffer.concat([Buffer.from([first]), ...pieces]);
  return [seed(said.client, SERVER), seed(said.client, SERVER + 254), seed(said.server, CLIENT)];
}

function record(socket: Duplex, said: Buffer[]): void {
  const write = socket.write.bind(socket);
  socket.write = (chunk: Buffer, ...rest: unknown[]) => {
    said.push(Buffer.from(chunk));
    return Reflect.apply(write, socket, [chunk, ...rest]);
  };
}
