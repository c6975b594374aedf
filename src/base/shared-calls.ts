import { throwIfAborted, untilAborted } from "./abort.ts";

/** One call at a time for a key: who asks while it is under way gets its outcome too. */
interface SharedCalls<T> {
  /**
   * Settles as the call does; rejects with AbortedError when the caller's signal fires. The call's own signal fires when
   * nobody waits for it any more.
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
        // It has settled, or nobody waits any more: who asks next needs a call of its own.
        const isOver = call.waiting === 0 || !signal.aborted;
        if (isOver && calls.get(key) === call) calls.delete(key);
      }
    },
  };
}
