import type { Duplex } from "node:stream";
import { AbortedError, throwIfAborted } from "../base/abort.ts";
import { assertNever } from "../base/assert.ts";
import type { Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { createReceiveWindows, createSendWindows } from "./flow-control.ts";
import { createSpdyFrameReader, type FrameReader } from "./frame-reader.ts";
import { createFrameWriter, type FrameWriter } from "./frame-writer.ts";
import {
  type ControlFrame,
  encodeGoAway,
  encodePing,
  encodeRstStream,
  encodeSynReply,
  encodeSynStream,
  encodeWindowUpdate,
  GO_AWAY_STATUS,
  RESET_STATUS,
} from "./frames.ts";
import { decodeHeaderBlock, encodeHeaderBlock, type SpdyHeaders } from "./header-block.ts";
import { createHeaderCompressor, createHeaderDecompressor, type HeaderDecompressor } from "./header-compression.ts";
import {
  type OpenStreamOptions,
  SPDY_LIMITS,
  type SpdyConnection,
  type SpdyConnectionOptions,
  type SpdyLimits,
} from "./spdy-connection.ts";
import { SpdyError } from "./spdy-error.ts";
import { createSpdyStream, type SpdyStream, type StreamCarrier, type StreamEnd } from "./spdy-stream.ts";

const OPEN_TIMEOUT_MS = 30_000;
/** Milliseconds that the peer may take to read the rest and to hang up, before it is cut off. */
const CLOSE_GRACE_MS = 1_000;
const MAX_STREAM_ID = 2 ** 31 - 1;
const MAX_PING_ID = 2 ** 32 - 1;

/** Takes the socket over: its previous owner must not read, write or end it. */
export function createSpdyConnection(socket: Duplex, options: SpdyConnectionOptions): SpdyConnection {
  return new Connection(socket, options);
}

/** The connection's record of a stream. */
interface Entry {
  readonly end: StreamEnd;
  /** Set while the stream was opened here and is not accepted yet. */
  pending: { resolve(): void; reject(error: Error): void } | undefined;
}

/**
 *   open ──closed here, error, end of the socket──▶ ending
 *     └──GOAWAY from the peer──▶ leaving ──last stream gone, or any of those──▶ ending
 */
type State = "open" | "leaving" | "ending";

class Connection implements SpdyConnection {
  readonly closed: Promise<SpdyError | undefined>;

  readonly #socket: Duplex;
  readonly #options: SpdyConnectionOptions;
  readonly #limits: SpdyLimits;
  readonly #streams = new Map<number, Entry>();
  readonly #timers = new Set<Timer>();
  readonly #compress = createHeaderCompressor();
  readonly #decompress: HeaderDecompressor;
  readonly #sendWindows = createSendWindows();
  readonly #receiveWindows = createReceiveWindows((id, bytes) => this.#control(encodeWindowUpdate(id, bytes)));
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #carrier: StreamCarrier;

  #state: State = "open";
  /** Why the connection ended. */
  #reason: SpdyError | undefined;
  /** The same reason, set only where neither end wanted the end. */
  #failure: SpdyError | undefined;
  #nextStreamId: number;
  #lastPeerStreamId = 0;
  #nextPingId: number;
  #isPinging = false;
  #unreadBytes = 0;
  #isPaused = false;
  #lastActivity: number;

  constructor(socket: Duplex, options: SpdyConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#limits = { ...SPDY_LIMITS, ...options.limits };
    this.#nextStreamId = options.role === "client" ? 1 : 2;
    this.#nextPingId = this.#nextStreamId;
    this.#lastActivity = options.clock.monotonic();
    this.#decompress = createHeaderDecompressor(this.#limits.maxHeaderBytes);
    this.#reader = createSpdyFrameReader(
      {
        control: (frame) => this.#onControl(frame),
        data: (streamId, bytes, fin) => this.#onData(streamId, bytes, fin),
      },
      this.#limits,
    );
    this.#writer = createFrameWriter(socket, this.#sendWindows);
    this.#carrier = this.#describeCarrier();
    this.closed = this.#listen();
    if (options.pingPeriodMs !== undefined) this.#pingEvery(options.pingPeriodMs);
    if (options.idleTimeoutMs !== undefined) this.#watchIdle(options.idleTimeoutMs, options.idleTimeoutMs);
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  async openStream(headers: Readonly<Record<string, string>>, options: OpenStreamOptions = {}): Promise<SpdyStream> {
    throwIfAborted(options.signal);
    this.#checkMayOpen();
    const id = this.#nextStreamId;
    this.#nextStreamId += 2;
    const sent = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const end = createSpdyStream(id, sent, this.#carrier);
    const accepted = new Promise<void>((resolve, reject) => {
      this.#streams.set(id, { end, pending: { resolve, reject } });
    });
    this.#control(encodeSynStream(id, this.#compress(encodeHeaderBlock(sent))));
    try {
      await this.#withinTime(accepted, options);
    } catch (error) {
      end.stream.destroy();
      throw error;
    }
    return end.stream;
  }

  async close(): Promise<void> {
    this.#end(new SpdyError("closed", "the connection was closed"));
    await this.closed;
  }

  #checkMayOpen(): void {
    if (this.#reason !== undefined) throw this.#reason;
    if (this.#state === "leaving") throw new SpdyError("no-more-streams", "the peer goes away");
    if (this.#nextStreamId > MAX_STREAM_ID) throw new SpdyError("no-more-streams", "all stream numbers are used up");
    if (this.#streams.size >= this.#limits.maxStreams) {
      throw new SpdyError("no-more-streams", `${this.#streams.size} streams are open`);
    }
  }

  async #withinTime(accepted: Promise<void>, { timeoutMs = OPEN_TIMEOUT_MS, signal }: OpenStreamOptions) {
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => reject(new AbortedError());
      // The message is in client-go's words.
      const onTimeout = () => reject(new SpdyError("timed-out", "Timeout occurred"));
      const timer = this.#options.clock.setTimer(timeoutMs, onTimeout);
      signal?.addEventListener("abort", onAbort, { once: true });
      accepted.then(resolve, reject).finally(() => {
        timer.cancel();
        signal?.removeEventListener("abort", onAbort);
      });
    });
  }

  async #listen(): Promise<SpdyError | undefined> {
    const socket = this.#socket;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("end", () => this.#end(new SpdyError("connection-lost", "the peer has ended the connection")));
    socket.on("error", (cause: unknown) => {
      this.#fail(new SpdyError("connection-lost", `the connection failed: ${messageOf(cause)}`, { cause }));
    });
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    this.#end(new SpdyError("connection-lost", "the connection has ended"));
    for (const timer of this.#timers) timer.cancel();
    return this.#failure;
  }

  #receive(chunk: Buffer): void {
    if (this.#state === "ending") return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      // No frame of a peer may end the process, so that a mistake in here ends this connection alone.
      const what = `a frame could not be handled: ${messageOf(error)}`;
      this.#fail(error instanceof SpdyError ? error : new SpdyError("protocol-error", what, { cause: error }));
    }
  }

  #fail(reason: SpdyError): void {
    // A peer that goes away may break the connection, which is no failure then.
    if (this.#state === "open") this.#failure = reason;
    this.#end(reason);
  }

  /** Ends the connection once; frames that come later are dropped. */
  #end(reason: SpdyError): void {
    if (this.#state === "ending") return;
    this.#state = "ending";
    this.#reason = reason;
    for (const { end, pending } of [...this.#streams.values()]) {
      pending?.reject(reason);
      if (reason.code === "closed") end.stream.destroy();
      else end.lose(reason);
    }
    const status = reason.code === "protocol-error" ? GO_AWAY_STATUS.protocolError : GO_AWAY_STATUS.ok;
    if (reason.code !== "connection-lost") this.#control(encodeGoAway(this.#lastPeerStreamId, status));
    this.#socket.end();
    // The socket is read on, because it does not notice its end otherwise.
    this.#socket.resume();
    this.#after(CLOSE_GRACE_MS, () => this.#socket.destroy());
  }

  #onControl(frame: ControlFrame): void {
    if (this.#state === "ending") return;
    if (frame.type !== "ping") this.#touch();
    switch (frame.type) {
      case "syn-stream":
        this.#onSynStream(frame.streamId, this.#readHeaders(frame.block), frame.fin);
        return;
      case "syn-reply":
        this.#readHeaders(frame.block);
        this.#onSynReply(frame.streamId, frame.fin);
        return;
      case "headers":
        // These headers mean nothing in Kubernetes' protocols, but the compression of later blocks depends on them.
        this.#readHeaders(frame.block);
        if (frame.fin) this.#streams.get(frame.streamId)?.end.finish();
        return;
      case "rst-stream":
        this.#onReset(frame.streamId, frame.status);
        return;
      case "settings":
        this.#receiveWindows.announce();
        if (frame.initialWindowBytes === undefined) return;
        this.#sendWindows.announce(frame.initialWindowBytes);
        this.#writer.resume();
        return;
      case "window-update":
        this.#receiveWindows.announce();
        if (frame.streamId !== 0 && !this.#streams.has(frame.streamId)) return;
        this.#sendWindows.widen(frame.streamId, frame.bytes);
        this.#writer.resume();
        return;
      case "ping":
        // Odd numbers are the client's pings, even ones the server's.
        if (frame.id % 2 === this.#nextPingId % 2) this.#isPinging = false;
        else this.#control(encodePing(frame.id));
        return;
      case "go-away":
        this.#onGoAway(frame.lastStreamId);
        return;
      case "unknown":
        return;
      default:
        assertNever(frame, "control frame");
    }
  }

  #onData(streamId: number, bytes: Buffer, fin: boolean): void {
    if (this.#state === "ending") return;
    this.#touch();
    const entry = this.#streams.get(streamId);
    if (entry === undefined) {
      const isPeers = this.#isPeers(streamId);
      const last = isPeers ? this.#lastPeerStreamId : this.#nextStreamId - 2;
      // The frame may be about a stream that has just been reset here.
      if (streamId <= last) return;
      throw new SpdyError("protocol-error", `the peer sent data in stream ${streamId}, which nobody has opened`);
    }
    entry.end.receive(bytes);
    if (fin) entry.end.finish();
  }

  #onSynStream(id: number, headers: SpdyHeaders, fin: boolean): void {
    if (!this.#isPeers(id) || id <= this.#lastPeerStreamId) {
      throw new SpdyError("protocol-error", `the peer opened stream ${id} after ${this.#lastPeerStreamId}`);
    }
    this.#lastPeerStreamId = id;
    const { onStream, accept } = this.#options;
    if (onStream === undefined || this.#streams.size >= this.#limits.maxStreams || accept?.(headers) === false) {
      this.#control(encodeRstStream(id, RESET_STATUS.refusedStream));
      return;
    }
    const end = createSpdyStream(id, headers, this.#carrier);
    this.#streams.set(id, { end, pending: undefined });
    // spdystream drops data that comes in a stream before this reply.
    this.#control(encodeSynReply(id, this.#compress(encodeHeaderBlock([]))));
    if (fin) end.finish();
    onStream(end.stream);
  }

  #isPeers(streamId: number): boolean {
    return streamId % 2 === (this.#options.role === "server" ? 1 : 0);
  }

  #onSynReply(streamId: number, fin: boolean): void {
    const entry = this.#streams.get(streamId);
    if (entry === undefined) return;
    entry.pending?.resolve();
    entry.pending = undefined;
    if (fin) entry.end.finish();
  }

  #onReset(streamId: number, status: number): void {
    const entry = this.#streams.get(streamId);
    if (entry === undefined) return;
    // The message is in moby/spdystream's words, whatever the status.
    entry.pending?.reject(new SpdyError("refused", "Stream reset"));
    entry.pending = undefined;
    entry.end.resetByPeer(status);
  }

  #onGoAway(lastStreamId: number): void {
    if (this.#state !== "open") return;
    this.#state = "leaving";
    for (const [id, { pending }] of this.#streams) {
      if (id > lastStreamId) pending?.reject(new SpdyError("no-more-streams", "the peer goes away"));
    }
    this.#endWhenLeft();
  }

  #endWhenLeft(): void {
    if (this.#state === "leaving" && this.#streams.size === 0) {
      this.#end(new SpdyError("closed", "the peer has gone away"));
    }
  }

  #readHeaders(block: Buffer): SpdyHeaders {
    return decodeHeaderBlock(this.#decompress(block));
  }

  #control(frame: Buffer): void {
    this.#writer.control(frame);
    if (this.#state === "ending" || this.#socket.writableLength <= this.#limits.maxUnsentBytes) return;
    this.#fail(new SpdyError("protocol-error", "the peer does not read what it is answered"));
  }

  #describeCarrier(): StreamCarrier {
    return {
      send: (piece) => {
        this.#touch();
        this.#writer.data(piece);
      },
      forget: (streamId) => this.#writer.forget(streamId),
      reset: (streamId, status) => this.#control(encodeRstStream(streamId, status)),
      held: (bytes) => this.#holdBack(bytes),
      taken: (streamId, bytes) => this.#receiveWindows.taken(streamId, bytes),
      gone: (streamId) => {
        this.#streams.delete(streamId);
        this.#sendWindows.forget(streamId);
        this.#receiveWindows.forget(streamId);
        this.#endWhenLeft();
      },
    };
  }

  /**
   * Half of the limit must be read before more is received, so that reading does not stop and start with every frame.
   */
  #holdBack(bytes: number): void {
    this.#unreadBytes += bytes;
    if (this.#state === "ending") return;
    const { maxUnreadBytes } = this.#limits;
    if (!this.#isPaused && this.#unreadBytes > maxUnreadBytes) {
      this.#isPaused = true;
      this.#socket.pause();
    } else if (this.#isPaused && this.#unreadBytes <= maxUnreadBytes / 2) {
      this.#isPaused = false;
      this.#socket.resume();
    }
  }

  #touch(): void {
    this.#lastActivity = this.#options.clock.monotonic();
  }

  /**
   * One ping is sent at a time. As in upstream, a ping without an answer has no consequence. Unlike upstream, no ping
   * is sent while other frames come or could come. A peer may have sent all and hung up, and bytes that reach it then
   * make the kernel throw away the bytes that are still on their way here.
   */
  #pingEvery(periodMs: number): void {
    this.#after(periodMs, () => {
      const isQuiet = !this.#isPaused && this.#options.clock.monotonic() - this.#lastActivity >= periodMs;
      if (isQuiet && !this.#isPinging) {
        this.#isPinging = true;
        this.#control(encodePing(this.#nextPingId));
        this.#nextPingId = this.#nextPingId + 2 > MAX_PING_ID ? 2 - (this.#nextPingId % 2) : this.#nextPingId + 2;
      }
      this.#pingEvery(periodMs);
    });
  }

  #watchIdle(timeoutMs: number, waitMs: number): void {
    this.#after(waitMs, () => {
      const quietMs = this.#options.clock.monotonic() - this.#lastActivity;
      if (quietMs < timeoutMs) this.#watchIdle(timeoutMs, timeoutMs - quietMs);
      else this.#fail(new SpdyError("timed-out", `nothing was sent or received for ${timeoutMs} ms`));
    });
  }

  #after(delayMs: number, fire: () => void): void {
    const timer = this.#options.clock.setTimer(delayMs, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
  }
}
