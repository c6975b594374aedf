import { lstat, stat } from "node:fs/promises";
import { connect } from "node:net";
import { codeOf, messageOf } from "../base/errors.ts";

/** The result of a look at a socket's path. */
export type SocketFinding =
  | { found: "nothing" }
  | { found: "no-socket" }
  /** A socket without a listener, or one that this process may not open. */
  | { found: "closed"; reason: string }
  /**
   * The socket accepts connections and says nothing: it is hung, or a server of another protocol waits for the client.
   */
  | { found: "silent" }
  | { found: "other-protocol" }
  | { found: "http2" };

/**
 * RFC 9113, 3.4: a client first sends this preface with an empty SETTINGS frame; a server answers with its own
 * SETTINGS.
 */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const FRAME_TYPE_OFFSET = 3;
const SETTINGS_FRAME = 4;
const PROBE_TIMEOUT_MS = 500;

/** Looks at the path and, if it is a socket, greets it in HTTP/2. Takes at most half a second. Never rejects. */
export async function probeSocket(path: string): Promise<SocketFinding> {
  try {
    const status = await stat(path);
    return status.isSocket() ? await greet(path) : { found: "no-socket" };
  } catch (error) {
    if (codeOf(error) !== "ENOENT") return { found: "closed", reason: messageOf(error) };
    const link = await lstat(path).catch(() => undefined);
    return link ? { found: "closed", reason: "a link to nowhere" } : { found: "nothing" };
  }
}

async function greet(path: string): Promise<SocketFinding> {
  return await new Promise((resolve) => {
    const socket = connect(path);
    const received: Buffer[] = [];
    const settle = (finding: SocketFinding) => {
      socket.destroy();
      resolve(finding);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => settle({ found: "silent" }));
    socket.once("connect", () => socket.write(PREFACE));
    socket.on("data", (chunk: Buffer) => {
      received.push(chunk);
      const type = Buffer.concat(received)[FRAME_TYPE_OFFSET];
      if (type !== undefined) settle({ found: type === SETTINGS_FRAME ? "http2" : "other-protocol" });
    });
    socket.once("end", () => settle({ found: "other-protocol" }));
    socket.on("error", (error) => settle({ found: "closed", reason: error.message }));
  });
}
