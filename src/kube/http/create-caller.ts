import { AbortedError, sleep } from "../../base/abort.ts";
import { createByteCollector } from "../../base/byte-collector.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { jitter, type Random } from "../../base/random.ts";
import type { RateLimiter } from "../../base/rate-limiter.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { KubeUnreachableError } from "../port.ts";
import { readAnswerError } from "./answer-error.ts";
import type { CallMetrics } from "./call-metrics.ts";
import type { ApiRequest, Caller } from "./caller.ts";
import { type CallDeadline, createDeadline } from "./deadline.ts";
import { nextTurn } from "./next-turn.ts";
import { type AttemptOutcome, planCallRetry } from "./plan-retry.ts";
import type { Lane, Transport } from "./transport/create-transport.ts";
import { TIMED_OUT, TransportError, type WireAnswer } from "./transport/wire.ts";

interface CallerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: CallMetrics;
  readonly limiter: RateLimiter;
  readonly credentials: Credentials;
  readonly transport: Transport;
  /** Fires when the client is closed. */
  readonly closing: AbortSignal;
}

interface CallerOptions {
  readonly server: string;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly onUnreachable?: (() => void) | undefined;
}

/** The part of a failed answer that is read: errors are small Status objects, and a proxy's page needs no more. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** A caller over a transport: every call is limited, authorized, retried and timed here, and nowhere else. */
export function createCaller(deps: CallerDeps, options: CallerOptions): Caller {
  const { clock, log, metrics, transport, credentials, closing } = deps;
  const { pathname } = new URL(options.server);
  const basePath = pathname === "/" ? "" : pathname;

  const attempt = async (request: PreparedRequest, lane: Lane, signal: AbortSignal) => {
    const authorization = await untilFired(credentials.authorization(), signal);
    const { method, path, body, contentType } = request;
    const headers = {
      accept: "application/json",
      "user-agent": options.userAgent,
      ...(body !== undefined && { "content-type": contentType, "content-length": String(body.length) }),
      ...(authorization !== undefined && { authorization }),
    };
    const answer = await transport.send(lane, { method, path: `${basePath}${path}`, headers, body }, signal);
    return { answer, authorization };
  };

  const acquire = async (method: string, signal: AbortSignal) => {
    const begunAt = clock.monotonic();
    await deps.limiter.acquire(signal);
    metrics.observeWait(method, (clock.monotonic() - begunAt) / SECOND);
  };

  /** Attempts until one of them stands: an answer of any status that is not to be retried. */
  const exchange = async (request: PreparedRequest, lane: Lane, signal: AbortSignal): Promise<WireAnswer> => {
    let hasRenewed = false;
    for (let number = 1; ; number++) {
      // Upstream limits no watches either: they are few, and they must come back soon after an outage.
      if (lane === "calls") await acquire(request.method, signal);
      let outcome: AttemptOutcome;
      let answer: WireAnswer | undefined;
      try {
        metrics.observeSize("request", request.method, request.body?.length ?? 0);
        const sent = await attempt(request, lane, signal);
        answer = sent.answer;
        metrics.countRequest(request.method, String(answer.status));
        if (answer.status === 401 && !hasRenewed) {
          hasRenewed = true;
          const isOther = await untilFired(credentials.renew(sent.authorization), signal);
          if ((await untilFired(transport.rotate(), signal)) || isOther) {
            answer.discard();
            continue;
          }
        }
        outcome = { kind: "answered", status: answer.status, headers: answer.headers };
      } catch (error) {
        answer?.discard();
        const isFailure = error instanceof TransportError || signal.reason === TIMED_OUT;
        if (answer === undefined && isFailure) metrics.countRequest(request.method, "<error>");
        outcome = { kind: "failed", error };
      }
      const waitMs = planCallRetry(request.method, number, outcome);
      if (waitMs === undefined) {
        if (answer !== undefined && outcome.kind === "answered") return answer;
        throw outcome.kind === "failed" ? outcome.error : new AbortedError();
      }
      answer?.discard();
      metrics.countRetry(request.method, outcome.kind === "answered" ? String(outcome.status) : "<error>");
      const why = outcome.kind === "failed" ? messageOf(outcome.error) : `answered with ${outcome.status}`;
      request.trail.problem = why;
      log.debug("a request is made again", { request: request.what, attempt: number, waitMs, why });
      if (waitMs > 0) await sleep(clock, jitter(deps.random, waitMs, RETRY_JITTER), signal);
    }
  };

  const within = async <T>(
    request: ApiRequest,
    deadline: CallDeadline,
    work: (prepared: PreparedRequest) => Promise<T>,
  ) => {
    const prepared = prepare(request);
    try {
      return await work(prepared);
    } catch (error) {
      const what = `${request.method} ${options.server}${pathOf(request)}`;
      const failure = toPortError({ what, deadline, earlier: prepared.trail.problem }, error);
      if (failure instanceof KubeUnreachableError && failure.code !== "credentials") options.onUnreachable?.();
      throw failure;
    }
  };

  return {
    async call(request, callOptions, maxBytes) {
      const timeoutMs = callOptions.timeoutMs ?? options.timeoutMs;
      const deadline = createDeadline(clock, { parents: [callOptions.signal, closing], timeoutMs });
      const begunAt = clock.monotonic();
      try {
        return await within(request, deadline, async (prepared) => {
          for (let number = 1; ; number++) {
            const answer = await exchange(prepared, "calls", deadline.signal);
            try {
              const body = await readSuccess(prepared.what, answer, maxBytes);
              metrics.observeSize("response", request.method, body.length);
              return body;
            } catch (error) {
              // The body broke off after the headers.
              const waitMs = planCallRetry(request.method, number, { kind: "failed", error });
              if (waitMs === undefined) throw error;
              await sleep(clock, waitMs, deadline.signal);
            }
          }
        });
      } finally {
        deadline.release();
        metrics.observeCall(request.method, (clock.monotonic() - begunAt) / SECOND);
      }
    },
    async stream(request, { endAfterMs, ...callOptions }) {
      const timeoutMs = callOptions.timeoutMs ?? options.timeoutMs;
      const whole = createDeadline(clock, { parents: [callOptions.signal, closing], timeoutMs: endAfterMs });
      const opening = createDeadline(clock, { parents: [whole.signal], timeoutMs });
      try {
        return await within(request, opening, async (prepared) => {
          const answer = await exchange(prepared, "watches", opening.signal);
          if (answer.status !== 200) await readSuccess(prepared.what, answer, MAX_ERROR_BYTES);
          opening.stopClock();
          return {
            read: async (onChunk) => await within(request, whole, async () => await answer.read(onChunk)),
            release() {
              opening.release();
              whole.release();
            },
          };
        });
      } catch (error) {
        opening.release();
        whole.release();
        throw error;
      }
    },
  };
}

/** Waits vary, so that the calls that a server has turned away do not come back all at once. */
const RETRY_JITTER = 0.1;

interface PreparedRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer | undefined;
  /** The request's name in messages. */
  readonly what: string;
  /** The failures of the attempts so far. */
  readonly trail: { problem: string | undefined };
}

function prepare(request: ApiRequest): PreparedRequest {
  const { method, path, body, contentType = "application/json" } = request;
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const what = `${method} ${pathOf(request)}`;
  return { method, path, contentType, body: bytes, what, trail: { problem: undefined } };
}

const pathOf = ({ path }: ApiRequest) => path.split("?", 1)[0] ?? path;

/** Settles as the promise does, or with AbortedError: for promises that know no signal. */
async function untilFired<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw new AbortedError();
  }
  return await new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(new AbortedError());
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Throws the error of a failed answer. */
async function readSuccess(what: string, answer: WireAnswer, maxBytes: number): Promise<Buffer> {
  const { status } = answer;
  const isSuccess = status >= 200 && status < 300;
  const collected = createByteCollector();
  const limit = isSuccess ? maxBytes : MAX_ERROR_BYTES;
  await answer.read((chunk) => {
    collected.add(chunk);
    if (collected.length > limit) throw new CodedError("too-long", `the answer is longer than ${limit} bytes`);
  });
  const body = await collected.takeInTurns(nextTurn);
  if (!isSuccess) throw readAnswerError(what, status, body);
  return body;
}

interface FailedCall {
  readonly what: string;
  readonly deadline: CallDeadline;
  readonly earlier: string | undefined;
}

/** The error with which a call ends, as the port documents it. `what` names the request and no secret. */
function toPortError({ what, deadline, earlier }: FailedCall, error: unknown): unknown {
  if (deadline.isTimedOut) {
    const before = earlier === undefined ? "" : `; an earlier attempt: ${earlier}`;
    const message = `${what}: no answer within ${deadline.timeoutMs} ms${before}`;
    return new KubeUnreachableError("timed-out", message, { cause: error });
  }
  if (deadline.signal.aborted) return new AbortedError();
  if (error instanceof TransportError || (error instanceof CodedError && error.code === "too-long")) {
    return new KubeUnreachableError("unreachable", `${what}: ${error.message}`, { cause: error });
  }
  if (error instanceof KubeUnreachableError && error.code === "credentials") {
    return new KubeUnreachableError("credentials", `${what}: ${error.message}`, { cause: error });
  }
  return error;
}
