import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** An HTTP proxy that leads every CONNECT to one port of this machine, whatever it was asked for. */
export interface ConnectProxy {
  /** `127.0.0.1:40123`. */
  readonly host: string;
  /** What was asked for, `api.example.com:6443`, with whose credentials. */
  readonly seen: ReadonlyArray<{ readonly target: string; readonly authorization: string | undefined }>;
  close(): Promise<void>;
}

export async function startConnectProxy(targetPort: number): Promise<ConnectProxy> {
  const seen: Array<ConnectProxy["seen"][number]> = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.on("connect", (request, near: Socket) => {
    seen.push({ target: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    const far = connect(targetPort, "127.0.0.1", () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      near.pipe(far).pipe(near);
    });
    sockets.add(far);
    // What broke shows at the other end.
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => undefined);
      from.once("close", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${portOf(server.address())}`,
    seen,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address.port;
}
