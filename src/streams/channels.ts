import type { Duplex } from "node:stream";
import type { ServedWebSocket, WebSocketHandler } from "../host/web-socket.ts";

/** The first byte of each message: which stream it is of (apimachinery/pkg/util/remotecommand). */
export const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
/** A message that begins with this byte ends the channel that its second byte names. */
const CLOSE_SIGNAL = 255;

/** Told of what is in the messages. */
export interface ChannelSink {
  data(channel: number, bytes: Buffer): void;
  ended(channel: number): void;
  /** The client has sent a signal that makes no sense; the rest of the connection is not to be trusted. */
  broken(): void;
}

/** Reads the messages of `v5.channel.k8s.io`. */
export function createChannelReader(sink: ChannelSink): WebSocketHandler["message"] {
  return (bytes) => {
    const [channel, named] = bytes;
    if (channel === undefined) return;
    if (channel !== CLOSE_SIGNAL) {
      if (bytes.length > 1) sink.data(channel, bytes.subarray(1));
    } else if (bytes.length === 2 && named !== undefined && named <= CHANNELS.resize) sink.ended(named);
    else sink.broken();
  };
}

/** What a client sends in one channel, on its way to a stream of the node. */
interface ChannelInput {
  write(bytes: Buffer): void;
  end(): void;
  /** From here on the input goes to this stream, first what came earlier and was kept. */
  attach(stream: Duplex): void;
}

/** Holds a client up. All channels share one connection, which goes on when none of them holds it up. */
interface Gate {
  hold(who: object): void;
  release(who: object): void;
}

/** A gate that pauses the WebSocket. */
export function createGate(socket: Pick<ServedWebSocket, "pause" | "resume">): Gate {
  const holders = new Set<object>();
  return {
    hold(who) {
      holders.add(who);
      socket.pause();
    },
    release(who) {
      if (holders.delete(who) && holders.size === 0) socket.resume();
    },
  };
}

/** Holds the gate while the stream cannot take more; before there is a stream, from the first byte on. */
export function createChannelInput(gate: () => Gate): ChannelInput {
  const me = {};
  const kept: Buffer[] = [];
  let hasEnded = false;
  let stream: Duplex | undefined;

  const release = () => gate().release(me);
  const pass = (to: Duplex, bytes: Buffer) => {
    if (!to.write(bytes)) gate().hold(me);
  };

  return {
    write(bytes) {
      if (hasEnded) return;
      if (stream !== undefined) {
        if (stream.writable) pass(stream, bytes);
        return;
      }
      kept.push(bytes);
      gate().hold(me);
    },
    end() {
      hasEnded = true;
      stream?.end();
    },
    attach(to) {
      stream = to;
      to.on("drain", release);
      to.once("close", release);
      release();
      for (const bytes of kept.splice(0)) pass(to, bytes);
      if (hasEnded) to.end();
    },
  };
}
