import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import { AbortedError } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { isSocksProxy, openSocksWay, SOCKS_PORT } from "./socks-tunnel.ts";
import { TransportError } from "./wire.ts";

/** The destination of a connection, the way there, and the certificates. */
interface DialTarget {
  /** `https://10.0.0.1:6443`; http is without TLS. */
  readonly origin: string;
  readonly proxyUrl: string | undefined;
  readonly secureContext: SecureContext;
  readonly verifyServer: boolean;
  /** Default: the host of `origin`. */
  readonly serverName: string | undefined;
  /** The protocols that are offered to the server. Default: both. */
  readonly protocols?: ReadonlyArray<DialedSocket["protocol"]>;
}

/** An open connection, and the protocol on which its ends agreed. */
interface DialedSocket {
  readonly socket: Socket;
  readonly protocol: "h2" | "http/1.1";
}

interface DialLimits {
  readonly clock: Clock;
  /** The limit for connection, proxy and TLS together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The kernel probes a silent peer after this long, which finds dead connections of HTTP/1.1, which has no ping. */
const KEEP_ALIVE_MS = 30_000;
/** How long one of several addresses may take before the next is tried. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * Opens a connection. Rejects with a TransportError `not-connected` (its message names the address, its cause has the
 * system's code) or with AbortedError; the socket is closed then.
 */
export async function dial(target: DialTarget, { clock, timeoutMs, signal }: DialLimits): Promise<DialedSocket> {
  if (signal.aborted) throw new AbortedError();
  const attempt = new AbortController();
  let stop: Error | undefined;
  const give = (error: Error) => {
    stop ??= error;
    attempt.abort();
  };
  const onAbort = () => give(new AbortedError());
  const { host } = new URL(target.origin);
  const timer = clock.setTimer(timeoutMs, () =>
    give(new TransportError("not-connected", `dial tcp ${host}: i/o timeout after ${timeoutMs} ms`)),
  );
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await open(target, { timeoutMs, signal: attempt.signal });
  } catch (error) {
    throw stop ?? asDialError(host, error);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

function asDialError(host: string, error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  // Several addresses give an AggregateError without a message; the error of one tells as much as all.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return new TransportError("not-connected", `dial tcp ${host}: ${messageOf(first)}`, { cause: first });
}

type Attempt = Pick<DialLimits, "timeoutMs" | "signal">;

async function open(target: DialTarget, attempt: Attempt): Promise<DialedSocket> {
  const url = new URL(target.origin);
  const host = unbracket(url.hostname);
  const isTls = url.protocol === "https:";
  const port = Number(url.port) || (isTls ? 443 : 80);
  const { signal } = attempt;
  const tunnel = target.proxyUrl === undefined ? undefined : { proxy: new URL(target.proxyUrl), host, port };
  const tcp = tunnel === undefined ? await openTcp(host, port, signal) : await openTunnel(tunnel, attempt);
  // A socket within TLS has no listeners of its own: its errors come from the TLS socket.
  tcp.on("error", () => undefined);
  tcp.setNoDelay(true);
  tcp.setKeepAlive(true, KEEP_ALIVE_MS);
  if (!isTls) return { socket: tcp, protocol: "http/1.1" };
  const socket = await openTls(tcp, { ...target, host }, signal);
  return { socket, protocol: socket.alpnProtocol === "h2" ? "h2" : "http/1.1" };
}

function unbracket(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

async function openTcp(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host, port, autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS });
  await untilOpen(socket, "connect", signal);
  return socket;
}

async function openTls(tcp: Socket, target: DialTarget & { host: string }, signal: AbortSignal): Promise<TLSSocket> {
  const name = target.serverName ?? target.host;
  const socket = connectTls({
    socket: tcp,
    host: target.host,
    // An address is no server name, by RFC 6066.
    ...(isIP(name) === 0 && { servername: name }),
    ALPNProtocols: [...(target.protocols ?? ["h2", "http/1.1"])],
    secureContext: target.secureContext,
    rejectUnauthorized: target.verifyServer,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
  });
  await untilOpen(socket, "secureConnect", signal);
  return socket;
}

async function untilOpen(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(event, resolve);
      socket.once("error", reject);
      socket.once("close", () => reject(Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" })));
      signal.addEventListener("abort", () => reject(new AbortedError()), { once: true });
      if (signal.aborted) reject(new AbortedError());
    });
  } catch (error) {
    socket.on("error", () => undefined);
    socket.destroy();
    throw error;
  }
}

interface Tunnel {
  readonly proxy: URL;
  readonly host: string;
  readonly port: number;
}

/** Never names the proxy's password. */
async function openTunnel(tunnel: Tunnel, attempt: Attempt): Promise<Socket> {
  const { proxy } = tunnel;
  if (isSocksProxy(proxy)) return await openSocksTunnel(tunnel, attempt);
  if (proxy.protocol === "http:" || proxy.protocol === "https:") return await openHttpTunnel(tunnel, attempt.signal);
  const message = `proxy ${proxy.protocol}//${proxy.host}: only http, https and socks5 proxies are supported`;
  throw new TransportError("not-connected", message);
}

async function openSocksTunnel(tunnel: Tunnel, attempt: Attempt): Promise<Socket> {
  const { proxy } = tunnel;
  const port = Number(proxy.port) || SOCKS_PORT;
  const socket = await openTcp(unbracket(proxy.hostname), port, attempt.signal).catch((error: unknown) => {
    const { message, cause } = asDialError(proxy.host, error);
    throw new TransportError("not-connected", `proxyconnect tcp: ${message}`, { cause });
  });
  await openSocksWay(socket, tunnel, attempt);
  return socket;
}

/** A way through an HTTP proxy, asked for by CONNECT. */
async function openHttpTunnel({ proxy, host, port }: Tunnel, signal: AbortSignal): Promise<Socket> {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const userInfo = [proxy.username, proxy.password].map(decodeURIComponent).join(":");
  return await new Promise<Socket>((resolve, reject) => {
    const fail = (problem: string, cause?: unknown) => {
      reject(new TransportError("not-connected", `proxy ${proxy.host}: ${problem}`, { cause }));
    };
    const outgoing = (proxy.protocol === "https:" ? requestHttps : requestHttp)({
      method: "CONNECT",
      host: unbracket(proxy.hostname),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      path: authority,
      agent: false,
      signal,
      headers: {
        host: authority,
        ...(userInfo !== ":" && { "proxy-authorization": `Basic ${Buffer.from(userInfo).toString("base64")}` }),
      },
    });
    outgoing.once("connect", (response, socket, head) => {
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      fail(`answered CONNECT ${authority} with ${response.statusCode}`);
    });
    outgoing.once("response", (response) => {
      response.destroy();
      fail(`answered CONNECT ${authority} with ${response.statusCode}`);
    });
    outgoing.once("error", (error) => fail(messageOf(error), error));
    outgoing.end();
  });
}
