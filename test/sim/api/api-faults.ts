import { ApiError, type ApiErrorReason } from "../../../src/api/api-error.ts";
import { sleep, throwIfAborted } from "../../../src/base/abort.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { KubeUnreachableError } from "../../../src/kube/port.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import type { Trace } from "../trace.ts";

/** How likely each kind of fault is, for each call, watch or event. */
export interface ApiFaultRates {
  /** The server says no, or nobody answers; nothing was done. */
  refused: number;
  /** It was done, and the answer does not come. */
  answerLost: number;
  slow: number;
  hang: number;
  expired: number;
  watchDropped: number;
  eventLate: number;
  eventDoubled: number;
}

export const NO_API_FAULTS: ApiFaultRates = {
  refused: 0,
  answerLost: 0,
  slow: 0,
  hang: 0,
  expired: 0,
  watchDropped: 0,
  eventLate: 0,
  eventDoubled: 0,
};

/** A request as the network between the node and the API server sees it. */
interface ApiCall {
  readonly verb: string;
  /** `patch pods/default/ant status` */
  readonly text: string;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/** Nobody answers at all, or connections are refused at once. */
type OutageKind = "silent" | "refused";

/** Breaks the node's calls of the API while a storm or an outage lasts. */
export interface ApiFaults {
  readonly rates: ApiFaultRates;
  storm(rates: ApiFaultRates): void;
  begin(outage: OutageKind): void;
  mend(): void;
  /** Does the call, or what is left of it. */
  around<T>(call: ApiCall, effect: () => Promise<T>): Promise<T>;
  /** Nothing comes through the connections that stand. */
  readonly isSilent: boolean;
  /** Fires when the connections that stand break. */
  breaking(): AbortSignal;
  breakWatches(): void;
  /** Every watch breaks, and whoever goes on where it was is told that this is too old. */
  expireOnce(forMs: number): void;
}

export const INJECTED = "injected by the simulator";
const ANY: readonly [ApiErrorReason, ...ApiErrorReason[]] = [
  "TooManyRequests",
  "InternalError",
  "ServiceUnavailable",
  "Timeout",
  "Unauthorized",
];
/** Answers that belong to other requests, and waits that nobody keeps. */
const ODD: readonly [ApiErrorReason, ...ApiErrorReason[]] = ["Conflict", "Expired", "Gone", "TooManyRequests"];
const ODD_WAITS_SECONDS = [0, 1, 30, 86_400] as const;
/** What a connection that fell silent takes to be noticed. */
const SILENCE_MS = 30_000;

interface ApiFaultsDeps {
  clock: Clock;
  dice: Dice;
  faults: Faults;
  trace: Trace;
  /** How long every call takes, there and back. */
  latencyMs: number;
  /** Any error may come in any place. */
  isOdd: boolean;
}

export function createApiFaults(deps: ApiFaultsDeps): ApiFaults {
  const { clock, dice, faults, trace } = deps;
  let rates = NO_API_FAULTS;
  let outage: OutageKind | undefined;
  let connections = new AbortController();
  let expiredUntil = Number.NEGATIVE_INFINITY;

  const tell = (kind: string, text: string) => {
    faults.count(`api ${kind}`);
    trace.note(`fault: ${text}: ${kind}`);
  };
  const roll = (rate: number) => rate > 0 && dice.chance(rate);
  const unreachable = (code: "unreachable" | "timed-out", text: string) =>
    new KubeUnreachableError(code, `${text}: ${INJECTED}`);

  const wait = async (ms: number, { signal }: ApiCall) => {
    await faults.during(async () => await sleep(clock, ms, signal));
  };

  /** Says nothing until the caller has had enough. */
  const staySilent = async (call: ApiCall): Promise<never> => {
    await wait(call.timeoutMs, call);
    throw unreachable("timed-out", call.text);
  };

  const refusal = ({ verb, text }: ApiCall): Error => {
    if (dice.chance(0.4)) return unreachable("unreachable", text);
    if (deps.isOdd && dice.chance(0.5)) {
      const retryAfterSeconds = dice.pick(ODD_WAITS_SECONDS);
      return new ApiError(dice.pick(ODD), `${text}: ${INJECTED}`, { retryAfterSeconds });
    }
    const mayConflict = ["patch", "replace", "delete"].includes(verb);
    const reason = mayConflict && dice.chance(0.3) ? "Conflict" : dice.pick(ANY);
    return new ApiError(reason, `${text}: ${INJECTED}`, dice.chance(0.3) ? { retryAfterSeconds: 2 } : {});
  };

  const before = async (call: ApiCall): Promise<void> => {
    throwIfAborted(call.signal);
    if (outage === "silent") await staySilent(call);
    if (deps.latencyMs > 0) await sleep(clock, deps.latencyMs, call.signal);
    if (outage === "refused") throw unreachable("unreachable", call.text);
    if (roll(rates.refused)) {
      tell("refused", call.text);
      throw refusal(call);
    }
    if (call.verb === "watch" && (clock.monotonic() < expiredUntil || roll(rates.expired))) {
      tell("expired", call.text);
      throw new ApiError("Expired", `too old resource version: ${INJECTED}`);
    }
    if (roll(rates.hang)) {
      tell("hangs", call.text);
      await staySilent(call);
    }
    if (roll(rates.slow)) {
      tell("slow", call.text);
      await wait(Math.min(dice.between(10, 8_000), call.timeoutMs - 1), call);
    }
  };

  const after = async (call: ApiCall): Promise<void> => {
    if (call.verb === "watch" || !roll(rates.answerLost)) return;
    tell("answer lost", call.text);
    if (dice.chance(0.5)) throw unreachable("unreachable", call.text);
    if (dice.chance(0.5)) throw new ApiError("InternalError", `${call.text}: ${INJECTED}`);
    await staySilent(call);
  };

  return {
    get rates() {
      return rates;
    },
    storm(next) {
      rates = next;
      faults.count("api storm");
    },
    begin(kind) {
      outage = kind;
      faults.begin("api outage");
      if (kind === "refused") connections.abort();
      else clock.setTimer(SILENCE_MS, () => (outage === "silent" ? connections.abort() : undefined));
    },
    mend() {
      outage = undefined;
      faults.mend("api outage");
      // What was connected through a silence does not come to life again.
      connections.abort();
    },
    async around(call, effect) {
      await before(call);
      const result = await effect();
      await after(call);
      return result;
    },
    get isSilent() {
      return outage === "silent";
    },
    breaking() {
      if (connections.signal.aborted) connections = new AbortController();
      return connections.signal;
    },
    expireOnce(forMs) {
      faults.count("api expired at once");
      expiredUntil = clock.monotonic() + forMs;
      connections.abort();
    },
    breakWatches() {
      faults.count("api watch drop");
      connections.abort();
    },
  };
}
