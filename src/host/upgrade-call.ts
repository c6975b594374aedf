import type { Duplex, Readable } from "node:stream";
import type { WebServer } from "./web-call.ts";

/**
 * Calls a server over HTTP/1.1 and asks it for another protocol on the same connection. Redirects are not followed. The
 * signal holds until there is a result: when it fires before, the call rejects with `AbortedError`. The call rejects
 * with a CodedError `call-failed` when the server cannot be reached or its answer is no HTTP. The streams in the result
 * belong to the caller.
 */
export type CallUpgrade = (call: UpgradeCall, signal: AbortSignal) => Promise<UpgradeResult>;

/** The request. */
export interface UpgradeCall extends WebServer {
  readonly method: string;
  /** The path with its query; sent as it is. */
  readonly target: string;
  /** The headers are sent as they are: `Connection` and `Upgrade` are among them. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** All of these are in PEM; only for `https`. */
  readonly tls?: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    /** Default true. */
    readonly rejectUnauthorized?: boolean;
    readonly servername?: string;
  };
}

/** Whether the server agreed. */
export type UpgradeResult =
  | {
      /** The status was 101. The new owner of the socket reads from its first byte. */
      readonly kind: "upgraded";
      readonly headers: Record<string, string | string[]>;
      readonly socket: Duplex;
    }
  | {
      /** The status was anything else. The body must be read or destroyed. */
      readonly kind: "answered";
      readonly status: number;
      readonly headers: Record<string, string | string[]>;
      readonly body: Readable;
    };

/** How long two joined streams may be quiet. */
interface JoinStreamsOptions {
  /** Milliseconds without a byte in either direction, after which both streams are destroyed. Default: no limit. */
  readonly idleMs?: number;
}

/** A stream that has ended leaves the other way open for answers, but not once it has been quiet for this long. */
const HALF_CLOSED_IDLE_MS = 60_000;

/**
 * Carries bytes both ways between two streams, no faster than they are taken. The end of one way is passed on and
 * leaves the other open. Once a stream has closed, the bytes that it sent are still delivered. Resolves when both are
 * closed, also on an abort, which destroys both. Never rejects: a broken stream counts as closed.
 */
export async function joinStreams(
  a: Duplex,
  b: Duplex,
  { idleMs = Number.POSITIVE_INFINITY }: JoinStreamsOptions,
  signal: AbortSignal,
): Promise<void> {
  const destroy = () => {
    a.destroy();
    b.destroy();
  };
  const quiet = createQuietTimer(idleMs, destroy);
  signal.addEventListener("abort", destroy, { once: true });
  const closed = Promise.all([carry(a, b, quiet), carry(b, a, quiet)]);
  if (signal.aborted) destroy();
  try {
    await closed;
  } finally {
    quiet.stop();
    signal.removeEventListener("abort", destroy);
  }
}

/** Carries one way. Resolves when the source has closed. */
async function carry(from: Duplex, to: Duplex, quiet: QuietTimer): Promise<void> {
  from.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    const onClose = () => {
      quiet.shorten(HALF_CLOSED_IDLE_MS);
      // The source has closed, so no answer can reach it. Bytes that are still on their way go out, then `to` is over
      // too.
      to.end(() => to.destroy());
      resolve();
    };
    if (from.destroyed) {
      onClose();
      return;
    }
    from.once("close", onClose);
    from.on("data", quiet.restart);
    to.on("drain", quiet.restart);
    const onEnd = () => quiet.shorten(HALF_CLOSED_IDLE_MS);
    if (from.readableEnded) onEnd();
    else from.once("end", onEnd);
    from.pipe(to);
  });
}

interface QuietTimer {
  restart(): void;
  /** Lowers the limit to `ms` from now on. */
  shorten(ms: number): void;
  stop(): void;
}

/** The longest that a timer of Node.js can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function createQuietTimer(initialMs: number, fire: () => void): QuietTimer {
  let limitMs = initialMs;
  let timer = start();
  function start(): NodeJS.Timeout | undefined {
    if (!Number.isFinite(limitMs)) return undefined;
    return setTimeout(fire, Math.min(limitMs, MAX_TIMER_MS));
  }
  return {
    restart: () => timer?.refresh(),
    shorten(ms) {
      if (ms >= limitMs) return;
      limitMs = ms;
      clearTimeout(timer);
      timer = start();
    },
    stop: () => clearTimeout(timer),
  };
}
