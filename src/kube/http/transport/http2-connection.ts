import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from "node:http2";
import type { Duplex } from "node:stream";
import { AbortedError } from "../../../base/abort.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createLiveness, type LivenessOptions } from "./liveness.ts";
import { type Connection, TIMED_OUT, TransportError, type WireAnswer, type WireRequest } from "./wire.ts";

interface Http2Deps {
  readonly clock: Clock;
  /** Connected, with `h2` agreed upon. */
  readonly socket: Duplex;
  /** Called when it takes more requests than before, or is gone. */
  onChange(): void;
}

interface Http2Options extends LivenessOptions {
  /** `https://10.0.0.1:6443`. */
  readonly origin: string;
}

/** The limit where the server sets none. */
const DEFAULT_MAX_STREAMS = 100;
/**
 * The limit until the server has told its own. Requests beyond that one would wait within the session, where no other
 * connection can take them over, behind watches that never end.
 */
const EARLY_STREAMS = 1;
/** The window for data to us: a list of 100 MB must not wait for a round trip every 64 KB. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
/** MiB that one session buffers before it takes no more streams. */
const MAX_SESSION_MEMORY = 512;

/** One HTTP/2 session as a Connection, with detection of a server that is gone. */
export function createHttp2Connection({ clock, socket, onChange }: Http2Deps, options: Http2Options): Connection {
  const session = connect(options.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    maxSessionMemory: MAX_SESSION_MEMORY,
  });
  const { protocol, host } = new URL(options.origin);
  const place = { ":scheme": protocol.slice(0, -1), ":authority": host };
  const exchanges = new Set<Http2Exchange>();
  let maxStreams = EARLY_STREAMS;
  let isSettled = false;
  let isDraining = false;
  /** A request timed out, and the server has not proven since that it is there. */
  let isSuspect = false;
  let grace: Timer | undefined;

  const destroy = (error: TransportError) => {
    isDraining = true;
    for (const exchange of [...exchanges]) exchange.fail(error);
    session.destroy();
  };
  const liveness = createLiveness(
    {
      clock,
      ping: (onPong) => pingSession(session, onPong),
      onDead: () => destroy(new TransportError("broken", "http2: client connection lost: no answer to a ping")),
    },
    options,
  );
  const suspect = () => {
    isSuspect = true;
    liveness.check(() => {
      isSuspect = false;
      onChange();
    });
  };
  const closed = new Promise<void>((resolve) => {
    session.once("close", () => {
      liveness.stop();
      grace?.cancel();
      isDraining = true;
      resolve();
      onChange();
    });
  });
  const drain = () => {
    isDraining = true;
    // The session closes when the last stream has ended.
    if (!session.closed) session.close();
  };
  let sessionError: unknown;
  session.on("error", (error) => {
    sessionError = error;
  });
  session.on("connect", () => {
    // The event comes a turn after the connection, and the session may have been closed by then.
    if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW_BYTES);
  });
  session.on("remoteSettings", ({ maxConcurrentStreams }) => {
    liveness.heard();
    isSettled = true;
    maxStreams = maxConcurrentStreams ?? DEFAULT_MAX_STREAMS;
    onChange();
  });
  session.on("goaway", (_code, lastStreamId) => {
    isDraining = true;
    for (const exchange of [...exchanges]) exchange.refuseAfter(lastStreamId);
    onChange();
  });

  return {
    protocol: "h2",
    get free() {
      if (isDraining || isSuspect || session.closed || session.destroyed) return 0;
      return Math.max(0, maxStreams - exchanges.size);
    },
    get isSettling() {
      return !isSettled && !isDraining && !isSuspect && !session.destroyed;
    },
    get active() {
      return exchanges.size;
    },
    send(request, signal) {
      if (signal.aborted) return Promise.reject(new AbortedError());
      const stream = openStream(session, request, place);
      if (stream instanceof TransportError) {
        isDraining = true;
        return Promise.reject(stream);
      }
      const exchange = createExchange(stream, signal, {
        heard: () => liveness.heard(),
        causeOf: () => sessionError,
        onTimedOut: suspect,
        onEnd() {
          exchanges.delete(exchange);
          onChange();
        },
      });
      exchanges.add(exchange);
      return exchange.answer;
    },
    retire(graceMs) {
      drain();
      grace ??= clock.setTimer(graceMs, () => {
        destroy(new TransportError("retired", "the connection's credentials are of the past"));
      });
      if (session.destroyed) grace.cancel();
    },
    destroy,
    closed,
  };
}

function pingSession(session: ClientHttp2Session, onPong: () => void): void {
  if (session.destroyed) return;
  session.ping((error) => {
    if (error === null) onPong();
  });
}

function openStream(
  session: ClientHttp2Session,
  { method, path, headers, body }: WireRequest,
  place: { readonly ":scheme": string; readonly ":authority": string },
): ClientHttp2Stream | TransportError {
  try {
    const pseudo = { ":method": method, ":path": path, ...place };
    const stream = session.request({ ...pseudo, ...headers }, { endStream: body === undefined });
    // A failure comes as an event, too, also before there can be a listener.
    stream.on("error", () => undefined);
    if (body !== undefined) stream.end(body);
    return stream;
  } catch (error) {
    // The session has just been closed, or has no stream numbers left.
    return new TransportError("not-sent", messageOf(error), { cause: error });
  }
}

interface ExchangeOwner {
  heard(): void;
  /** The reason for which the session broke, if it is known. */
  causeOf(): unknown;
  onTimedOut(): void;
  onEnd(): void;
}

interface Http2Exchange {
  readonly answer: Promise<WireAnswer>;
  fail(error: TransportError): void;
  /** The server will not look at streams with a higher number. */
  refuseAfter(lastStreamId: number): void;
}

/** One request and its answer: waiting for headers, then reading or discarding the body, then over. */
function createExchange(stream: ClientHttp2Stream, signal: AbortSignal, owner: ExchangeOwner): Http2Exchange {
  let rejectWaiting: (error: Error) => void = () => undefined;
  let failure: Error | undefined;
  let isOver = false;

  const end = () => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", onAbort);
    owner.onEnd();
  };
  const fail = (error: Error) => {
    if (isOver || failure !== undefined) return;
    failure = error;
    rejectWaiting(error);
    stream.close(constants.NGHTTP2_CANCEL);
    end();
  };
  const onAbort = () => {
    if (signal.reason === TIMED_OUT) owner.onTimedOut();
    fail(new AbortedError());
  };
  signal.addEventListener("abort", onAbort, { once: true });
  stream.once("error", (error) => fail(describeFailure(stream, error)));
  stream.once("close", () => {
    // Every stream closes, and hardly any for a failure.
    if (!isOver && failure === undefined) fail(describeFailure(stream, owner.causeOf()));
    end();
  });

  const answer = new Promise<WireAnswer>((resolve, reject) => {
    rejectWaiting = reject;
    stream.once("response", (headers: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      owner.heard();
      rejectWaiting = () => undefined;
      resolve({
        status: headers[":status"] ?? 0,
        headers,
        read: (onChunk) => read(onChunk),
        discard: () => {
          stream.close(constants.NGHTTP2_CANCEL);
          end();
        },
      });
    });
  });

  const read = async (onChunk: (chunk: Buffer) => void) => {
    await new Promise<void>((resolve, reject) => {
      if (failure !== undefined) {
        reject(failure);
        return;
      }
      rejectWaiting = reject;
      stream.on("data", (chunk: Buffer) => {
        if (failure !== undefined) return;
        owner.heard();
        try {
          onChunk(chunk);
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      });
      stream.once("end", () => {
        // A stream whose connection broke ends too; only its code tells the one from the other.
        if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
          fail(describeFailure(stream, owner.causeOf()));
          return;
        }
        resolve();
        end();
      });
    });
  };

  return {
    answer,
    fail,
    refuseAfter(lastStreamId) {
      const id = stream.id;
      if (id === undefined || id > lastStreamId) fail(new TransportError("not-sent", "the server is going away"));
    },
  };
}

function describeFailure({ rstCode }: ClientHttp2Stream, cause: unknown): TransportError {
  const reason = cause === undefined || cause === null ? "the connection was closed" : messageOf(cause);
  if (rstCode === constants.NGHTTP2_REFUSED_STREAM) {
    return new TransportError("not-sent", "the server refused the stream", { cause });
  }
  return new TransportError("broken", reason, { cause });
}
