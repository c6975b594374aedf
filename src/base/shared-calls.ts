import { throwIfAborted, untilAborted } from "./abort.ts";

/**
 * Allows one call at a time for each key. A caller that asks while a call is under way gets the outcome of that call.
 */
interface SharedCalls<T> {
  /**
   * Settles as the call does; rejects with `AbortedError` when the caller's signal fires. The call's own signal fires
   * when no caller waits for it any more.
   */
  join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Call<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export function createSharedCalls<T>(): SharedCalls<T> {
  const calls = new Map<string, Call<T>>();

  const begin = (key: string, start: (signal: AbortSignal) => Promise<T>): Call<T> => {
    const controller = new AbortController();
    const call = { outcome: start(controller.signal), controller, waiting: 0 };
    calls.set(key, call);
    return call;
  };

  return {
    async join(key, signal, start) {
      throwIfAborted(signal);
      const call = calls.get(key) ?? begin(key, start);
      call.waiting++;
      try {
        return await untilAborted(call.outcome, signal);
      } finally {
        call.waiting--;
        if (call.waiting === 0) call.controller.abort();
        // The call has settled, or no caller waits for it any more. The next caller needs a call of its own.
        const isOver = call.waiting === 0 || !signal.aborted;
        if (isOver && calls.get(key) === call) calls.delete(key);
      }
    },
  };
}
