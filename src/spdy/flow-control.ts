import { SpdyError } from "./spdy-error.ts";

/**
 * The number of bytes that may be sent in a stream before the receiver says that it has taken some. The same bound
 * holds for all streams of a connection together.
 */
const DEFAULT_WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 2 ** 31 - 1;
/** Stream 0 stands for the connection's window. */
const CONNECTION = 0;

/**
 * How much the peer allows to be sent. Kubernetes' own programs (moby/spdystream) never speak of windows, and would
 * never open one that is used up. Only a peer that announces its windows in SETTINGS is taken to have any.
 */
export interface SendWindows {
  /** The number is infinite for a peer without windows, and may be negative. */
  room(streamId: number): number;
  sent(streamId: number, bytes: number): void;
  /** Records that the peer has windows, of this size at first. */
  announce(initialBytes: number): void;
  /** Throws `protocol-error` for a window that becomes larger than the protocol allows. */
  widen(streamId: number, bytes: number): void;
  forget(streamId: number): void;
}

export function createSendWindows(): SendWindows {
  /** Bytes that were sent and not given back, by stream. */
  const used = new Map<number, number>();
  let initial: number | undefined;
  const usedOf = (streamId: number) => used.get(streamId) ?? 0;
  return {
    room(streamId) {
      if (initial === undefined) return Number.POSITIVE_INFINITY;
      return Math.min(initial - usedOf(streamId), DEFAULT_WINDOW_BYTES - usedOf(CONNECTION));
    },
    sent(streamId, bytes) {
      used.set(streamId, usedOf(streamId) + bytes);
      used.set(CONNECTION, usedOf(CONNECTION) + bytes);
    },
    announce(initialBytes) {
      initial = initialBytes;
    },
    widen(streamId, bytes) {
      const left = usedOf(streamId) - bytes;
      if (-left > MAX_WINDOW_BYTES) throw new SpdyError("protocol-error", "the peer opened a window too far");
      used.set(streamId, left);
    },
    forget: (streamId) => used.delete(streamId),
  };
}

/**
 * Decides when the peer must be told that it may send more: when the peer has shown that it has windows itself, and
 * half of its own window was taken. Other peers are never told. Kubernetes' own programs read such frames only to skip
 * them, from queues that one unread stream can block. A frame that arrives when they have sent all and hung up breaks
 * the connection, and loses the last bytes that are still on their way.
 */
interface ReceiveWindows {
  taken(streamId: number, bytes: number): void;
  /** Records that the peer has windows. */
  announce(): void;
  forget(streamId: number): void;
}

/** `open` is called with each window that must be announced to the peer. */
export function createReceiveWindows(open: (streamId: number, bytes: number) => void): ReceiveWindows {
  /** Bytes that were taken and not announced to the peer, by stream. */
  const untold = new Map<number, number>();
  let isAnnounced = false;
  const tell = (streamId: number, bytes: number) => {
    untold.delete(streamId);
    open(streamId, bytes);
  };
  const take = (streamId: number, bytes: number) => {
    const total = (untold.get(streamId) ?? 0) + bytes;
    untold.set(streamId, total);
    if (isAnnounced && total >= DEFAULT_WINDOW_BYTES / 2) tell(streamId, total);
  };
  return {
    taken(streamId, bytes) {
      take(streamId, bytes);
      take(CONNECTION, bytes);
    },
    announce() {
      if (isAnnounced) return;
      isAnnounced = true;
      for (const [streamId, bytes] of untold) tell(streamId, bytes);
    },
    forget: (streamId) => untold.delete(streamId),
  };
}
