import { AbortedError } from "./abort.ts";

/**
 * A bounded queue between one reader and many writers. Items arrive in order, and the reader takes them one at a time.
 * At the bound `offer` refuses the item and counts it, and the writer decides what that means.
 */
export interface Mailbox<T> {
  /** False when the box is full and the item was not taken. */
  offer(item: T): boolean;
  /** Waits until there is an item, and leaves it there. Rejects with AbortedError when the signal fires. */
  ready(signal: AbortSignal): Promise<void>;
  /** The oldest item; waits for one. Rejects with AbortedError when the signal fires. One reader at a time. */
  take(signal: AbortSignal): Promise<T>;
  readonly size: number;
  /** Items refused since the start. */
  readonly refused: number;
}

export function createMailbox<T>(capacity: number): Mailbox<T> {
  const items: T[] = [];
  let wake: (() => void) | undefined;
  let refused = 0;

  const untilOffered = async (signal: AbortSignal) => {
    await new Promise<void>((resolve) => {
      wake = () => {
        wake = undefined;
        signal.removeEventListener("abort", resume);
        resolve();
      };
      const resume = () => wake?.();
      signal.addEventListener("abort", resume, { once: true });
    });
  };

  return {
    offer(item) {
      if (items.length >= capacity) {
        refused++;
        return false;
      }
      items.push(item);
      wake?.();
      return true;
    },
    async ready(signal) {
      while (items.length === 0 || signal.aborted) {
        if (signal.aborted) throw new AbortedError();
        await untilOffered(signal);
      }
    },
    async take(signal) {
      for (;;) {
        if (signal.aborted) throw new AbortedError();
        if (items.length > 0) return items.shift() as T;
        await untilOffered(signal);
      }
    },
    get size() {
      return items.length;
    },
    get refused() {
      return refused;
    },
  };
}
