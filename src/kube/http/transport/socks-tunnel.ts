import type { Socket } from "node:net";
import { messageOf } from "../../../base/errors.ts";
import { TransportError } from "./wire.ts";

/** The target to which the proxy connects. The proxy looks names up, with either of the two schemes. */
interface SocksTarget {
  readonly proxy: URL;
  readonly host: string;
  readonly port: number;
}

interface SocksLimits {
  /** Longer than the dial may take: the caller's deadline ends it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The port of a SOCKS proxy whose URL has none; as Go's net/http. */
export const SOCKS_PORT = 1080;
/** A name and a password are sent with their lengths, a byte each (RFC 1929). */
const MAX_CREDENTIAL_BYTES = 255;

/** Whether the URL's proxy speaks SOCKS 5; Go's net/http takes both schemes for the same. */
export function isSocksProxy({ protocol }: URL): boolean {
  return protocol === "socks5:" || protocol === "socks5h:";
}

/**
 * Asks the proxy at the other end of `socket` for a way to the target. Resolves when the socket is that way. Rejects with
 * a TransportError that names proxy and target, in the form of Go's errors, and never the password; the socket is closed
 * then, as it is when the signal fires.
 */
export async function openSocksWay(
  socket: Socket,
  { proxy, host, port }: SocksTarget,
  { timeoutMs, signal }: SocksLimits,
): Promise<void> {
  // Loaded only where it is needed, which is on few nodes.
  const { SocksClient } = await import("socks");
  const close = () => socket.destroy();
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  // Errors between the proxy's answer and the handing on of the socket.
  socket.on("error", () => undefined);
  try {
    await SocksClient.createConnection({
      command: "connect",
      proxy: { host: proxy.hostname, port: Number(proxy.port) || SOCKS_PORT, type: 5, ...readCredentials(proxy) },
      destination: { host, port },
      existing_socket: socket,
      timeout: timeoutMs,
    });
  } catch (error) {
    close();
    // The package's error holds the options with the password, and so is not passed on as the cause.
    const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    throw new TransportError("not-connected", `socks connect tcp ${proxy.host}->${authority}: ${messageOf(error)}`);
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Throws for what the protocol cannot carry, in Go's words. */
function readCredentials({ username, password }: URL): { userId: string; password: string } | undefined {
  if (username === "" && password === "") return undefined;
  const credentials = { userId: decodeURIComponent(username), password: decodeURIComponent(password) };
  const isTooLong = Object.values(credentials).some((text) => Buffer.byteLength(text) > MAX_CREDENTIAL_BYTES);
  if (credentials.userId === "" || isTooLong) throw new Error("invalid username/password");
  return credentials;
}
