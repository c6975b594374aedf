import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The way from the node to its API server, which can be broken while the test still reaches the server. */
export interface ApiProxy {
  readonly url: string;
  /** Connections are reset, and new ones refused: the server's process is gone. */
  cut(): Promise<void>;
  /** Connections stay open, and nothing gets through them any more; new ones work: a firewall forgot the old ones. */
  stall(): void;
  /** After `cut`: connections work again. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** A proxy of bytes on a port of its own, before the server of this URL. */
export async function createApiProxy(serverUrl: string): Promise<ApiProxy> {
  const target = new URL(serverUrl);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      // What broke shows at its other end.
      from.on("error", () => undefined);
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const listen = async (port: number) =>
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen(0);
  const { port } = addressOf(server.address());
  const cut = async () => {
    const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
    for (const socket of open) socket.resetAndDestroy();
    await closed;
  };
  return {
    url: `https://127.0.0.1:${port}`,
    cut,
    stall() {
      for (const socket of open) {
        socket.unpipe();
        socket.pause();
      }
    },
    mend: async () => await listen(port),
    close: cut,
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address;
}
