import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect, isIP } from "node:net";
import type { Readable } from "node:stream";
import { AbortedError, childController, throwIfAborted } from "../../../base/abort.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import { checkHealth } from "../../../grpc/health-check.ts";
import type {
  ConnectionFailure,
  HttpProbe,
  HttpProbeOutcome,
  ProbeClient,
  ProbeTarget,
  TcpProbeOutcome,
} from "../../probe-port.ts";

/** As Go's http.Client: more than that are a failure. */
const MAX_REDIRECTS = 10;
/** Those that Go follows; any other 3xx is an answer. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_HEADER_BYTES = 1024 * 1024;
/** The longest that `setTimeout` waits; given more it fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const networkProbes: ProbeClient = {
  http: probeHttp,
  tcp: probeTcp,
  grpc: async (probe, signal) => await checkHealth(probe, signal),
};

/** Where a request goes: the probe's target, or what it was redirected to. */
interface Hop {
  readonly url: URL;
  /** As it is written in messages and in the request line. */
  readonly text: string;
  readonly path: string;
  readonly hostHeader: string | undefined;
}

async function probeHttp(probe: HttpProbe, signal: AbortSignal): Promise<HttpProbeOutcome> {
  return await withinTime(probe.timeoutMs, signal, async (deadline) => {
    let hop = firstHop(probe);
    for (let redirects = 0; ; redirects++) {
      const outcome = await exchange(probe, hop, deadline);
      if (outcome.kind !== "redirected") return outcome;
      if (redirects >= MAX_REDIRECTS - 1) {
        const failure = { reason: "too-many-redirects", message: `stopped after ${MAX_REDIRECTS} redirects` } as const;
        return { kind: "no-answer", url: outcome.to.text, failure };
      }
      hop = outcome.to;
    }
  });
}

function firstHop(probe: HttpProbe): Hop {
  const authority = `${isIP(probe.host) === 6 ? `[${probe.host}]` : probe.host}:${probe.port}`;
  const text = `${probe.scheme}://${authority}${probe.path}`;
  const url = URL.canParse(text) ? new URL(text) : new URL(`${probe.scheme}://invalid.invalid`);
  const named = probe.headers.find(([name]) => name.toLowerCase() === "host")?.[1];
  return { url, text, path: probe.path, hostHeader: named || authority };
}

type Exchange = HttpProbeOutcome | { kind: "redirected"; to: Hop };

/** One request and the head of its answer; the body of a redirect that is followed is not read. */
async function exchange(probe: HttpProbe, hop: Hop, deadline: Deadline): Promise<Exchange> {
  return await new Promise<Exchange>((resolve) => {
    const send = hop.url.protocol === "https:" ? requestHttps : requestHttp;
    const fail = (error: unknown) => resolve({ kind: "no-answer", url: hop.text, failure: failureOf(error, deadline) });
    try {
      const request = send({
        method: "GET",
        host: hop.url.hostname.replace(/^\[|\]$/g, ""),
        port: hop.url.port || (hop.url.protocol === "https:" ? 443 : 80),
        path: hop.path,
        headers: headerLines(probe, hop),
        agent: false,
        // By the target and not by the Host header, which Node.js would take.
        servername: isIP(hop.url.hostname) === 0 ? hop.url.hostname : "",
        rejectUnauthorized: false,
        // Go accepts lines that end in a bare LF; nothing but this answer is ever read from the connection.
        insecureHTTPParser: true,
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: deadline.signal,
      });
      let hasAnswered = false;
      request.on("error", (error) => {
        // After the head of an answer, who reads its body hears of it, too.
        if (!hasAnswered) fail(error);
      });
      request.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ kind: "answered", status: response.statusCode ?? 0, body: Buffer.alloc(0) });
      });
      request.on("response", (response) => {
        const { statusCode = 0 } = response;
        hasAnswered = true;
        const to = REDIRECTS.has(statusCode) ? redirectOf(probe, hop, response.headers.location) : undefined;
        if (to !== undefined) {
          response.destroy();
          resolve({ kind: "redirected", to });
          return;
        }
        readBody(response, probe.maxBodyBytes).then(
          (body) => resolve({ kind: "answered", status: statusCode, body }),
          (error: unknown) => resolve({ kind: "broken-body", url: hop.text, failure: failureOf(error, deadline) }),
        );
      });
      request.end();
    } catch (error) {
      // A header or a path that cannot be sent.
      fail(error);
    }
  });
}

function headerLines(probe: HttpProbe, hop: Hop): string[] {
  const others = probe.headers.filter(([name]) => name.toLowerCase() !== "host");
  return [["Host", hop.hostHeader ?? hop.url.host], ...others].flat();
}

/** Undefined where the redirect is not followed, and so is the answer. */
function redirectOf(probe: HttpProbe, from: Hop, location: string | undefined): Hop | undefined {
  if (location === undefined || location === "" || !URL.canParse(location, from.text)) return undefined;
  const url = new URL(location, from.text);
  const isHttp = url.protocol === "http:" || url.protocol === "https:";
  if (!isHttp || url.hostname !== firstHop(probe).url.hostname) return undefined;
  // A name that was asked for holds for as long as nobody names another authority, as in Go.
  const isRelative = !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(location);
  const hostHeader = isRelative ? from.hostHeader : url.host;
  return { url, text: url.href, path: `${url.pathname}${url.search}`, hostHeader };
}

async function readBody(incoming: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    length += bytes.length;
    // Leaving the loop closes the connection.
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks, Math.min(length, maxBytes));
}

async function probeTcp({ host, port, timeoutMs }: ProbeTarget, signal: AbortSignal): Promise<TcpProbeOutcome> {
  return await withinTime(timeoutMs, signal, async (deadline) => {
    return await new Promise<TcpProbeOutcome>((resolve) => {
      const socket = connect({ host, port, signal: deadline.signal });
      socket.once("connect", () => {
        socket.destroy();
        resolve({ kind: "connected" });
      });
      socket.on("error", (error) => resolve({ kind: "failed", failure: failureOf(error, deadline) }));
    });
  });
}

interface Deadline {
  /** Fires when the time is over, and when the caller gives up. */
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
}

async function withinTime<T>(
  timeoutMs: number,
  signal: AbortSignal,
  task: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const { controller, release } = childController(signal);
  let isOver = false;
  const timer = setTimeout(
    () => {
      isOver = true;
      controller.abort();
    },
    Math.min(timeoutMs, MAX_TIMEOUT_MS),
  );
  try {
    const outcome = await task({ signal: controller.signal, isOver: () => isOver });
    if (signal.aborted) throw new AbortedError();
    return outcome;
  } finally {
    clearTimeout(timer);
    release();
    controller.abort();
  }
}

const REASONS: Readonly<Record<string, ConnectionFailure["reason"]>> = {
  ECONNREFUSED: "refused",
  EPIPE: "reset",
  ETIMEDOUT: "timeout",
  EHOSTUNREACH: "host-unreachable",
  ENETUNREACH: "network-unreachable",
  ENOTFOUND: "unknown-name",
  EAI_AGAIN: "unknown-name",
  ERR_SSL_WRONG_VERSION_NUMBER: "no-tls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "no-tls",
  EPROTO: "no-tls",
};

function failureOf(thrown: unknown, { isOver }: Deadline): ConnectionFailure {
  const error = firstOf(thrown);
  const message = messageOf(error);
  if (isOver()) return { reason: "timeout", message };
  const code = String(codeOf(error) ?? "");
  // Node.js says ECONNRESET for a connection that ended without an answer, too, in these words.
  if (message === "socket hang up" || message === "aborted") return { reason: "closed", message };
  if (code === "ECONNRESET") return { reason: "reset", message };
  return { reason: REASONS[code] ?? "other", message };
}

/** Of a name with several addresses all were tried: the first that failed tells why. */
function firstOf(thrown: unknown): unknown {
  return thrown instanceof AggregateError ? (thrown.errors[0] ?? thrown) : thrown;
}
