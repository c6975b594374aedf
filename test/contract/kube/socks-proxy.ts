import { connect, createServer, type Socket } from "node:net";

/** What a client asked of the proxy. */
interface SeenSocks {
  /** The methods that it offered: 0 is none, 2 a name with a password. */
  readonly methods: readonly number[];
  /** `name:password`. */
  readonly credentials: string | undefined;
  /** `api.example.com:6443`, `[fd00::1]:6443`. */
  readonly target: string;
  /** `name`, `IPv4` or `IPv6`: how the target was written. */
  readonly kind: string;
}

/** A SOCKS 5 server (RFC 1928, RFC 1929) that leads everybody to one port of this machine. */
export interface SocksProxy {
  /** `127.0.0.1:40123`. */
  readonly host: string;
  readonly seen: readonly SeenSocks[];
  /** Connections of clients that are open now. */
  readonly open: number;
  /** How many have ever been opened. */
  readonly opened: number;
  close(): Promise<void>;
}

interface SocksProxyOptions {
  /** Demanded where given: `name:password`. */
  readonly credentials?: string;
  /** The answer to CONNECT; 0 lets the client through. Default 0. */
  readonly reply?: number;
  /** Says nothing any more from here on. */
  readonly silentAt?: "greeting" | "connect";
}

const VERSION = 5;
const NO_METHOD = 0;
const PASSWORD_METHOD = 2;
const NONE_ACCEPTABLE = 0xff;

export async function startSocksProxy(targetPort: number, options: SocksProxyOptions = {}): Promise<SocksProxy> {
  const seen: SeenSocks[] = [];
  const clients = new Set<Socket>();
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    clients.add(near);
    sockets.add(near);
    near.on("error", () => undefined);
    near.once("close", () => clients.delete(near));
    void serve(near, options, seen).then((reply) => {
      if (reply === undefined) return;
      near.write(Buffer.from([VERSION, reply, 0, 1, 0, 0, 0, 0, 0, 0]));
      if (reply === 0) sockets.add(lead(near, targetPort));
      else near.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    host: `127.0.0.1:${address.port}`,
    seen,
    get open() {
      return clients.size;
    },
    get opened() {
      return opened;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Everything up to the answer to CONNECT, which it returns; undefined where there is none to give. */
async function serve(
  near: Socket,
  { credentials, reply = 0, silentAt }: SocksProxyOptions,
  seen: SeenSocks[],
): Promise<number | undefined> {
  const take = createTaker(near);
  const [, count = 0] = await take(2);
  const methods = [...(await take(count))];
  if (silentAt === "greeting") return undefined;
  const method = credentials === undefined ? NO_METHOD : PASSWORD_METHOD;
  if (!methods.includes(method)) {
    near.end(Buffer.from([VERSION, NONE_ACCEPTABLE]));
    return undefined;
  }
  near.write(Buffer.from([VERSION, method]));
  const given = method === PASSWORD_METHOD ? await takeCredentials(take) : undefined;
  if (given !== undefined) {
    near.write(Buffer.from([1, given === credentials ? 0 : 1]));
    if (given !== credentials) {
      near.end();
      return undefined;
    }
  }
  seen.push({ methods, credentials: given, ...(await takeTarget(take)) });
  return silentAt === "connect" ? undefined : reply;
}

async function takeCredentials(take: Take): Promise<string> {
  const [, nameLength = 0] = await take(2);
  const name = await take(nameLength);
  const [passwordLength = 0] = await take(1);
  return `${name}:${await take(passwordLength)}`;
}

async function takeTarget(take: Take): Promise<Pick<SeenSocks, "target" | "kind">> {
  const [, , , type = 0] = await take(4);
  if (type === 3) {
    const [length = 0] = await take(1);
    return { kind: "name", target: `${await take(length)}:${(await take(2)).readUInt16BE()}` };
  }
  const address = await take(type === 1 ? 4 : 16);
  const port = (await take(2)).readUInt16BE();
  if (type === 1) return { kind: "IPv4", target: `${[...address].join(".")}:${port}` };
  const { hostname } = new URL(`http://[${address.toString("hex").replace(/(....)(?=.)/g, "$1:")}]`);
  return { kind: "IPv6", target: `${hostname}:${port}` };
}

type Take = (bytes: number) => Promise<Buffer>;

/** Reads so and so many bytes; what is not asked for stays in the socket. Never resolves once the client is gone. */
function createTaker(socket: Socket): Take {
  return async (bytes) => {
    if (bytes === 0) return Buffer.alloc(0);
    for (;;) {
      const chunk: unknown = socket.read(bytes);
      if (Buffer.isBuffer(chunk) && chunk.length === bytes) return chunk;
      await new Promise((resolve) => socket.once("readable", resolve));
    }
  };
}

function lead(near: Socket, targetPort: number): Socket {
  const far = connect(targetPort, "127.0.0.1", () => near.pipe(far).pipe(near));
  // What broke shows at the other end.
  far.on("error", () => undefined);
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  return far;
}
