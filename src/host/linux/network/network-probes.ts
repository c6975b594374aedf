import { connect, isIP } from "node:net";
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
import { addressOf, pathAndQuery, redirectTarget } from "../../request-url.ts";
import { readBody } from "./read-body.ts";
import { type OutgoingRequest, type Reply, sendRequest } from "./send-request.ts";
import { type Deadline, withinTime } from "./within-time.ts";

/** Go's `http.Client` fails when there are more. */
const MAX_REDIRECTS = 10;
/** Go follows these; any other 3xx is an answer. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export const networkProbes: ProbeClient = {
  http: probeHttp,
  tcp: probeTcp,
  grpc: async (probe, signal) => await checkHealth(probe, signal),
};

/** The place that a request goes to: the probe's target, or the target of a redirect. */
interface Hop {
  readonly url: URL;
  /** The URL as it is written in messages and in the request line. */
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

/** Makes one request and reads the head of its answer. The body of a redirect that is followed is not read. */
async function exchange(probe: HttpProbe, hop: Hop, deadline: Deadline): Promise<Exchange> {
  const broken = (kind: "no-answer" | "broken-body", error: unknown): Exchange => {
    return { kind, url: hop.text, failure: failureOf(error, deadline) };
  };
  let reply: Reply;
  try {
    reply = await sendRequest(requestOf(probe, hop), deadline.signal);
  } catch (error) {
    return broken("no-answer", error);
  }
  if (reply.kind === "upgraded") {
    reply.socket.destroy();
    return { kind: "answered", status: reply.message.statusCode ?? 0, body: Buffer.alloc(0) };
  }
  const { status, message } = reply;
  const to = REDIRECTS.has(status) ? redirectOf(probe, hop, message.headers.location) : undefined;
  if (to !== undefined) {
    message.destroy();
    return { kind: "redirected", to };
  }
  try {
    const body = await readBody(message, { maxBytes: probe.maxBodyBytes, atLimit: "cut" });
    return { kind: "answered", status, body };
  } catch (error) {
    return broken("broken-body", error);
  }
}

function requestOf(probe: HttpProbe, { url, path, hostHeader }: Hop): OutgoingRequest {
  const others = probe.headers.filter(([name]) => name.toLowerCase() !== "host");
  return {
    to: addressOf(url),
    method: "GET",
    path,
    headers: [["Host", hostHeader ?? url.host], ...others].flat(),
    // The name comes from the target, as in Go. Node.js would take the name in the `Host` header.
    tls: { rejectUnauthorized: false, servername: isIP(url.hostname) === 0 ? url.hostname : "" },
    // Nothing but this answer is ever read from the connection.
    isLenient: true,
  };
}

/** Returns undefined where the redirect is not followed and counts as the answer. */
function redirectOf(probe: HttpProbe, from: Hop, location: string | undefined): Hop | undefined {
  const url = redirectTarget(from.text, location, firstHop(probe).url.hostname);
  if (url === undefined || location === undefined) return undefined;
  // A name that was asked for holds until a redirect names another authority, as in Go.
  const isRelative = !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(location);
  const hostHeader = isRelative ? from.hostHeader : url.host;
  return { url, text: url.href, path: pathAndQuery(url), hostHeader };
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
  // Node.js also says ECONNRESET, in these words, for a connection that ended without an answer.
  if (message === "socket hang up" || message === "aborted") return { reason: "closed", message };
  if (code === "ECONNRESET") return { reason: "reset", message };
  return { reason: REASONS[code] ?? "other", message };
}

/** All addresses of a name were tried. The first that failed tells why. */
function firstOf(thrown: unknown): unknown {
  return thrown instanceof AggregateError ? (thrown.errors[0] ?? thrown) : thrown;
}
