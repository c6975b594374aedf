import type { Clock, Timer } from "../../../base/clock.ts";

export interface LivenessOptions {
  /** Silence after which the other end is asked. Go's ReadIdleTimeout, 30 s in client-go. */
  readonly pingAfterMs: number;
  /** How long the other end may take to answer. Go's PingTimeout, 15 s in client-go. */
  readonly pingTimeoutMs: number;
}

interface LivenessDeps {
  readonly clock: Clock;
  /** Sends a ping; `onPong` is called when it is answered. */
  ping(onPong: () => void): void;
  /** Called when the other end did not answer: it will answer no request either. */
  onDead(): void;
}

/**
 * Finds out that the other end of a connection is gone without a word: a machine that lost its power, a firewall that
 * forgot the connection. A quiet connection costs one timer and one ping a period.
 */
interface Liveness {
  /** To be called when data arrived. */
  heard(): void;
  /** Asks at once; calls `onAlive` when the answer is there. */
  check(onAlive: () => void): void;
  stop(): void;
}

export function createLiveness({ clock, ping, onDead }: LivenessDeps, options: LivenessOptions): Liveness {
  const { pingAfterMs, pingTimeoutMs } = options;
  let heardAt = clock.monotonic();
  let silence: Timer | undefined;
  let patience: Timer | undefined;
  let isStopped = false;
  let waiting: Array<() => void> = [];

  const stop = () => {
    isStopped = true;
    silence?.cancel();
    patience?.cancel();
    waiting = [];
  };
  const listen = (delayMs: number) => {
    silence = clock.setTimer(delayMs, () => {
      const leftMs = heardAt + pingAfterMs - clock.monotonic();
      if (leftMs > 0) listen(leftMs);
      else ask();
    });
  };
  const ask = () => {
    if (patience !== undefined) return;
    silence?.cancel();
    patience = clock.setTimer(pingTimeoutMs, () => {
      stop();
      onDead();
    });
    ping(answered);
  };
  const answered = () => {
    if (isStopped) return;
    patience?.cancel();
    patience = undefined;
    heardAt = clock.monotonic();
    listen(pingAfterMs);
    const callbacks = waiting;
    waiting = [];
    for (const callback of callbacks) callback();
  };
  listen(pingAfterMs);

  return {
    heard() {
      // A piece of a large answer does not set the timer anew: the present one looks at the time when it fires.
      heardAt = clock.monotonic();
    },
    check(onAlive) {
      if (isStopped) return;
      waiting.push(onAlive);
      ask();
    },
    stop,
  };
}
