import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import type { Endpoint } from "./api-server.ts";
import { connect, type Protocol } from "./connection.ts";

/** Watches that are open. */
interface WatchConnections {
  /** Resolves when the answer has begun; `onEvent` is called at the end of each event. Throws for another status than 200. */
  open(path: string, onEvent: () => void): Promise<void>;
}

const NEWLINE = 10;
const CLOSING_BRACE = 125;
const READ_BYTES = 64 * 1024;

/**
 * With as little of a client as counts events: what a thousand sockets of `node:https` cost on the watchers' side would
 * be taken for the server's slowness, for both have the same processors. With HTTP/2 it is `node:http2`, which has but a
 * few sockets; with HTTP/1.1 one socket for each watch, read into one buffer that is used again, and no parser.
 */
export function openWatchConnections(
  endpoint: Endpoint,
  options: { protocol: Protocol; connections: number },
): WatchConnections {
  if (options.protocol === "HTTP/1.1") return { open: async (path, onEvent) => openRaw(endpoint, path, onEvent) };
  const connection = connect(endpoint, options);
  return {
    async open(path, onEvent) {
      const count = createEventCount(onEvent);
      const status = await connection.stream({ method: "GET", path }, (chunk) => count(chunk, chunk.length));
      if (status !== 200) throw new Error(`a watch is answered with ${status}`);
    },
  };
}

/** An event is an object and the end of its line; lines of the chunked coding end otherwise. */
function createEventCount(onEvent: () => void): (bytes: Uint8Array, length: number) => void {
  let lastByte = 0;
  return (bytes, length) => {
    for (let end = bytes.indexOf(NEWLINE); end !== -1 && end < length; end = bytes.indexOf(NEWLINE, end + 1)) {
      if ((end === 0 ? lastByte : bytes[end - 1]) === CLOSING_BRACE) onEvent();
    }
    lastByte = bytes[length - 1] ?? lastByte;
  };
}

/** All sockets share it: a read is over before the next begins. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

async function openRaw(endpoint: Endpoint, path: string, onEvent: () => void): Promise<void> {
  const { host, port, caPem: ca, certificatePem: cert, keyPem: key } = endpoint;
  const count = createEventCount(onEvent);
  let begin: (statusLine: string) => void = () => undefined;
  const begun = new Promise<string>((resolve) => {
    begin = resolve;
  });
  let hasBegun = false;
  const onread = {
    buffer: readBuffer,
    callback(length: number) {
      if (!hasBegun) begin(readBuffer.toString("latin1", 0, Math.min(length, "HTTP/1.1 200".length)));
      hasBegun = true;
      count(readBuffer, length);
      return true;
    },
  };
  const options = { host, port, ca, cert, key, ALPNProtocols: ["http/1.1"], onread };
  const socket = connectTls(options);
  await once(socket, "secureConnect");
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nAccept: application/json\r\nUser-Agent: bench/1.0\r\n\r\n`,
  );
  const statusLine = await begun;
  if (statusLine !== "HTTP/1.1 200") throw new Error(`a watch is answered with ${statusLine}`);
}
