import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A wire to a server that can be cut. TLS goes through it as it is. */
export interface FragileProxy {
  readonly url: string;
  /** Breaks every connection; new ones are refused until it is mended. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startFragileProxy(target: string): Promise<FragileProxy> {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `https://127.0.0.1:${address.port}`,
    cut() {
      isCut = true;
      breakAll();
    },
    mend() {
      isCut = false;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      breakAll();
      await closed;
    },
  };
}
