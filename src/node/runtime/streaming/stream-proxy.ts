import type { Duplex, Readable } from "node:stream";
import { unmappedIp } from "../../../api/validation/ip-address.ts";
import { aborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { CodedError } from "../../../base/errors.ts";
import { endsInTime, withDeadline } from "../../../base/time-limit.ts";
import { formatHttpHead } from "../../../host/http-head.ts";
import type { PacedWriter, Page, ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import { addressOf, isWebUrl, pathAndQuery } from "../../../host/request-url.ts";
import { type CallUpgrade, joinStreams, type UpgradeCall, type UpgradeResult } from "../../../host/upgrade-call.ts";
import type { StreamsCall } from "../../../streams/streams-call.ts";
import { answerOf, TOO_MANY } from "./stream-failure.ts";

/** Carries streams between clients of the node's API and the runtime's streaming server. */
interface StreamProxy {
  /**
   * Serves the request with the stream at the URL that the runtime makes for `ask`; the URL is good for one call.
   * Failures become answers. An answer of the runtime that is no stream is passed on as it is.
   */
  open(request: ServedRequest, ask: AskRuntime): Promise<ServedAnswer>;
  /**
   * Serves a client that speaks another protocol than the runtime does: `carry` answers it, calls the stream at the URL by
   * SPDY, and resolves when both have ended. What fails before it is called becomes an answer, as in `open`.
   */
  openCarried(request: ServedRequest, ask: AskRuntime, carry: Carry): Promise<ServedAnswer>;
  /** When the signal fires, ends all streams and refuses new ones; resolves when none is left. */
  run(signal: AbortSignal): Promise<void>;
}

/** Has the runtime make a URL for one stream. */
type AskRuntime = (signal: AbortSignal) => Promise<string>;

/** Carries one client's streams; never rejects. */
type Carry = (call: StreamsCall) => Promise<void>;

export interface StreamProxyDeps {
  readonly callUpgrade: CallUpgrade;
  readonly clock: Pick<Clock, "setTimer" | "now" | "monotonic">;
}

export interface StreamProxyOptions {
  /** `streamingConnectionIdleTimeout`: a stream without a byte for this long is ended; 0 means never. */
  readonly idleTimeoutMs: number;
  /** The number of streams at the same time; more are refused with 429. */
  readonly maxStreams: number;
}

/** The limit for connecting to the runtime and for its agreement to upgrade. */
const CALL_TIMEOUT_MS = 30 * SECOND;
/** The limit for the transfer of an answer that is no stream, as upstream's. */
const ANSWER_TIMEOUT_MS = 10 * SECOND;

const STOPPING: Page = { status: 503, body: "the node agent is stopping\n", closes: true };

export function createStreamProxy(deps: StreamProxyDeps, options: StreamProxyOptions): StreamProxy {
  const { idleTimeoutMs, maxStreams } = options;
  const idle = idleTimeoutMs > 0 ? { idleMs: idleTimeoutMs } : {};
  const stopping = new AbortController();
  const streams = new Set<Promise<void>>();
  // A place is held from the call to the runtime until the stream has ended.
  let places = maxStreams;

  /** Holds the place until the stream has ended. */
  const hold = async (stream: Promise<void>): Promise<void> => {
    const over = stream.finally(() => {
      places++;
      streams.delete(over);
    });
    streams.add(over);
    await over;
  };

  const join = async (client: Duplex, { headers, socket }: Upgraded): Promise<void> => {
    client.write(formatHttpHead(101, headers));
    await hold(joinStreams(client, socket, idle, stopping.signal));
  };

  /** `reach` gives the answer where no stream comes about, else what to do with the client's connection. */
  const serve = async (request: ServedRequest, ask: AskRuntime, reach: Reach): Promise<ServedAnswer> => {
    if (!request.isUpgrade) return { status: 500, body: "Upgrade request required\n" };
    if (stopping.signal.aborted) return STOPPING;
    if (places === 0) return TOO_MANY;
    places--;
    let isHandedOver = false;
    try {
      return await answerOf(request.signal, async () => {
        const reached = await reach(readUrl(await ask(request.signal)));
        if (typeof reached !== "function") return reached;
        isHandedOver = true;
        return { status: 101, body: { takeOver: reached } };
      });
    } finally {
      if (!isHandedOver) places++;
    }
  };

  return {
    open: async (request, ask) =>
      await serve(request, ask, async (url) => {
        const { method, signal } = request;
        const result = await call(deps, { url, method, headers: computeForwardedHeaders(request) }, signal);
        return result.kind === "answered" ? relay(result, deps.clock) : async (client) => await join(client, result);
      }),

    openCarried: async (request, ask, carry) =>
      await serve(request, ask, async (url) => {
        const forwarded = withoutWebSocket(computeForwardedHeaders(request));
        const connect: StreamsCall["connect"] = async (headers, signal) =>
          await call(deps, { url, method: "POST", headers: { ...forwarded, ...headers } }, signal);
        return async (socket) => await hold(carry({ request, socket, connect, signal: stopping.signal }));
      }),

    async run(signal) {
      await aborted(signal);
      stopping.abort();
      await Promise.all(streams);
    },
  };
}

type Upgraded = UpgradeResult & { readonly kind: "upgraded" };
type Answered = UpgradeResult & { readonly kind: "answered" };
type Reach = (url: URL) => Promise<ServedAnswer | ((client: Duplex) => Promise<void>)>;

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && isWebUrl(url)) return url;
  // The message does not contain the URL, because that holds the token which opens the stream.
  throw new CodedError("no-url", "error dialing backend: the container runtime gave no http or https URL");
}

async function call(
  { callUpgrade, clock }: StreamProxyDeps,
  { url, method, headers }: Pick<UpgradeCall, "method" | "headers"> & { readonly url: URL },
  signal: AbortSignal,
): Promise<UpgradeResult> {
  const limit = { timeoutMs: CALL_TIMEOUT_MS, signal, what: "error dialing backend: it" };
  const outgoing = { ...addressOf(url), target: pathAndQuery(url), method, headers };
  return await withDeadline(clock, limit, async (timed) => await callUpgrade(outgoing, timed));
}

/** Headers that concern only the client and this node. */
const NOT_FORWARDED = ["authorization", "cookie", "content-length", "transfer-encoding"];

/**
 * Forwards headers as upstream's `UpgradeAwareHandler`, without the client's credentials, which the runtime must not
 * get.
 */
function computeForwardedHeaders(request: ServedRequest): Record<string, readonly string[]> {
  const kept = Object.entries(request.headersBeginning("")).filter(([name]) => !NOT_FORWARDED.includes(name));
  const headers = Object.fromEntries(kept);
  const client = unmappedIp(request.remoteAddress);
  return { ...headers, "x-forwarded-for": [[...(headers["x-forwarded-for"] ?? []), client].join(", ")] };
}

/** The headers without those of the client's WebSocket, which ends here. */
function withoutWebSocket(headers: Record<string, readonly string[]>): Record<string, readonly string[]> {
  const isKept = (name: string) => name !== "connection" && name !== "upgrade" && !name.startsWith("sec-websocket-");
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
}

/** Headers that belong to a connection and not to an answer. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "upgrade"];

/**
 * Passes a refusal to the client. Any other answer is no answer to a request for another protocol, as upstream has it.
 */
function relay({ status, headers, body }: Answered, clock: StreamProxyDeps["clock"]): ServedAnswer {
  if (status < 400) {
    body.destroy();
    return { status: 500, body: `invalid upgrade response: status code ${status}\n` };
  }
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name));
  return {
    status,
    headers: Object.fromEntries(kept),
    body: { produce: async (writer: PacedWriter) => await copy(body, writer, clock) },
  };
}

async function copy(body: Readable, writer: PacedWriter, clock: StreamProxyDeps["clock"]): Promise<void> {
  const limit = { timeoutMs: ANSWER_TIMEOUT_MS, signal: writer.signal };
  const isWhole = await endsInTime(clock, limit, async (signal) => {
    const cut = () => body.destroy();
    signal.addEventListener("abort", cut, { once: true });
    try {
      for await (const chunk of body) await writer.write(Buffer.from(chunk));
    } finally {
      signal.removeEventListener("abort", cut);
      body.destroy();
    }
  });
  if (!isWhole) throw new CodedError("timed-out", "the container runtime's answer took too long");
}
