import { AbortedError } from "../../../src/base/abort.ts";
import type { AnswerBody, AnswerWriter } from "../../../src/host/http-server.ts";

/** The client's end of an answer that streams: what the server writes waits here until it is read. */
interface EventQueue {
  /** Resolves when the server ends it; rejects when the signal fires, and with what `onChunk` throws. */
  read(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** The client has gone. */
  close(): void;
}

/**
 * Chunks are handed over in a turn of their own, as a connection would: never from within the server's `write`, which
 * is in the middle of something.
 */
export function createEventQueue(body: AnswerBody, signal: AbortSignal): EventQueue {
  const chunks: Buffer[] = [];
  const gone = new AbortController();
  let hasEnded = false;
  let wake: () => void = () => undefined;
  const onAbort = () => {
    gone.abort();
    wake();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const writer: AnswerWriter = {
    write(chunk) {
      if (gone.signal.aborted || hasEnded) return;
      chunks.push(Buffer.from(chunk));
      wake();
    },
    get bufferedBytes() {
      return chunks.reduce((sum, { length }) => sum + length, 0);
    },
    end() {
      hasEnded = true;
      gone.abort();
      wake();
    },
    signal: gone.signal,
  };
  if (typeof body !== "string" && "stream" in body) body.stream(writer);
  else throw new Error("the control plane answers a watch with something that does not stream");

  return {
    async read(onChunk) {
      for (;;) {
        if (signal.aborted) throw new AbortedError();
        const chunk = chunks.shift();
        if (chunk !== undefined) onChunk(chunk);
        else if (hasEnded) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
    close() {
      signal.removeEventListener("abort", onAbort);
      gone.abort();
      chunks.length = 0;
    },
  };
}
