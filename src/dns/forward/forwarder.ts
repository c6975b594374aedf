import { LRUCache } from "lru-cache";
import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { createSharedCalls } from "../../base/shared-calls.ts";
import { createTally } from "../../base/tally.ts";
import type { CallDns, DnsPeer, DnsTransport } from "../../host/dns-port.ts";
import type { DnsMetrics } from "../dns-metrics.ts";
import type { DnsQuery } from "../wire/read-query.ts";
import { RESPONSE_CODES } from "../wire/write-answer.ts";
import {
  adaptAnswer,
  codeOfAnswer,
  computeLifetimeSeconds,
  type ForwardedAnswer,
  forwardKey,
  isCutShort,
  readForwardedAnswer,
  writeForwardedQuery,
} from "./forwarded-answer.ts";
import type { NameServer } from "./name-servers.ts";

/** Asks other servers what the cluster does not know, and keeps their answers for a while. */
export interface Forwarder {
  /**
   * The answer to a client. `refused`: too many questions are under way, of all clients or of this one; `failed`: no
   * server has an answer.
   */
  ask(query: DnsQuery, peer: DnsPeer): Promise<ForwardOutcome>;
  /** An answer that is at hand. */
  recall(query: DnsQuery): Buffer | undefined;
}

type ForwardOutcome = { readonly kind: "answer"; readonly message: Buffer } | { readonly kind: "refused" | "failed" };

interface ForwarderDeps {
  readonly call: CallDns;
  readonly clock: Clock;
  /** The servers that may be asked now, in the order of preference. */
  readonly servers: () => readonly NameServer[];
  /** A number from 0 to 65,535 that nobody can guess. */
  readonly randomId: () => number;
  readonly metrics: Pick<DnsMetrics, "cacheHit" | "cacheMiss" | "cacheSize" | "forwardRefused">;
}

interface Kept extends ForwardedAnswer {
  readonly keptAt: number;
  readonly lifetimeSeconds: number;
}

/** The numbers of kubeadm's CoreDNS. */
const MAX_QUESTIONS = 1_000;
/** One client that asks for what no server answers must leave room for the others. CoreDNS has no such number. */
const MAX_QUESTIONS_OF_CLIENT = 250;
const MAX_KEPT = 9_984;
/** All answers together; one has at most 64 KiB. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
const CALL_TIMEOUT_MS = 2_000;
const TOTAL_TIMEOUT_MS = 5_000;
/** A server that did not answer is asked last for so long. */
const DISTRUST_MS = 10_000;
const LEAST_ATTEMPTS = 2;

export function createForwarder(deps: ForwarderDeps): Forwarder {
  const { clock, metrics } = deps;
  const kept = new LRUCache<string, Kept>({
    max: MAX_KEPT,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ message }) => message.length + 500,
  });
  const shared = createSharedCalls<ForwardedAnswer | undefined>();
  const ask = createExchange(deps);
  let questions = 0;
  const questionsOf = createTally();
  return {
    recall(query) {
      const found = kept.get(forwardKey(query));
      const ageSeconds = found === undefined ? 0 : (clock.monotonic() - found.keptAt) / 1_000;
      if (found === undefined || ageSeconds >= found.lifetimeSeconds) {
        metrics.cacheMiss();
        return undefined;
      }
      metrics.cacheHit(codeOfAnswer(found) === RESPONSE_CODES.NOERROR ? "success" : "denial");
      return adaptAnswer(query, found, Math.floor(ageSeconds));
    },
    async ask(query, { transport, address, signal }) {
      if (questions >= MAX_QUESTIONS || questionsOf.count(address) >= MAX_QUESTIONS_OF_CLIENT) {
        metrics.forwardRefused();
        return { kind: "refused" };
      }
      const key = forwardKey(query);
      questions++;
      questionsOf.add(address, 1);
      try {
        const found = await shared.join(`${transport} ${key}`, signal, async (callSignal) => {
          return await ask(query, transport, callSignal);
        });
        if (found === undefined) return { kind: "failed" };
        const lifetimeSeconds = computeLifetimeSeconds(found);
        if (lifetimeSeconds > 0) kept.set(key, { ...found, keptAt: clock.monotonic(), lifetimeSeconds });
        metrics.cacheSize(kept.size);
        return { kind: "answer", message: adaptAnswer(query, found, 0) };
      } finally {
        questions--;
        questionsOf.add(address, -1);
      }
    },
  };
}

type Exchange = (query: DnsQuery, transport: DnsTransport, signal: AbortSignal) => Promise<ForwardedAnswer | undefined>;

/** Asks one server after the other until one has an answer. One that says that it cannot tell counts if none can. */
function createExchange({ call, clock, servers, randomId }: ForwarderDeps): Exchange {
  const failedAt = new LRUCache<string, number>({ max: 64 });
  const isDistrusted = ({ address }: NameServer) => {
    const at = failedAt.get(address);
    return at !== undefined && clock.monotonic() - at < DISTRUST_MS;
  };
  return async (query, transport, signal) => {
    const ranked = servers().toSorted((a, b) => Number(isDistrusted(a)) - Number(isDistrusted(b)));
    const deadline = clock.monotonic() + TOTAL_TIMEOUT_MS;
    let lame: ForwardedAnswer | undefined;
    for (const server of ranked.length < LEAST_ATTEMPTS ? [...ranked, ...ranked] : ranked) {
      const timeoutMs = Math.min(CALL_TIMEOUT_MS, deadline - clock.monotonic());
      if (timeoutMs <= 0) break;
      const message = writeForwardedQuery(query, randomId());
      let answer: ForwardedAnswer | undefined;
      const isAnswer = (received: Buffer) => {
        answer = readForwardedAnswer(received, message);
        return answer !== undefined;
      };
      try {
        await call({ ...server, transport, message, timeoutMs, signal, isAnswer });
      } catch (error) {
        if (isAbort(error)) throw error;
        failedAt.set(server.address, clock.monotonic());
        continue;
      }
      if (answer === undefined) continue;
      failedAt.delete(server.address);
      const code = codeOfAnswer(answer);
      if (isCutShort(answer) || (code !== RESPONSE_CODES.SERVFAIL && code !== RESPONSE_CODES.REFUSED)) return answer;
      lame = answer;
    }
    return lame;
  };
}
