import { connect, createServer, type Socket } from "node:net";

/** A wire that can lose what goes over it without a word, as a firewall does that forgot a connection. */
interface MuteProxy {
  readonly port: number;
  /** The connections that are open now carry nothing any more, and stay open. New ones are as good as ever. */
  mute(): void;
  readonly connections: number;
  close(): Promise<void>;
}

export async function startMuteProxy(targetPort: number): Promise<MuteProxy> {
  const pairs = new Set<{ near: Socket; far: Socket; isMute: boolean }>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connect(targetPort, "127.0.0.1");
    const pair = { near, far, isMute: false };
    pairs.add(pair);
    const carry = (from: Socket, to: Socket) => {
      from.on("data", (chunk: Buffer) => {
        if (!pair.isMute) to.write(chunk);
      });
      from.on("error", () => undefined);
      from.once("close", () => {
        pairs.delete(pair);
        if (!pair.isMute) to.destroy();
      });
    };
    carry(near, far);
    carry(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const all: Array<{ near: Socket; far: Socket }> = [];
  return {
    port: address.port,
    mute() {
      for (const pair of pairs) {
        pair.isMute = true;
        all.push(pair);
      }
    },
    get connections() {
      return connections;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const { near, far } of [...pairs, ...all]) {
        near.destroy();
        far.destroy();
      }
      await closed;
    },
  };
}
