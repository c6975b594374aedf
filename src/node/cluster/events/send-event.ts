import { type ApiError, type ApiErrorReason, isApiError } from "../../../api/api-error.ts";
import { EVENTS } from "../../../api/kube-resource.ts";
import { isAbort, sleep } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import type { RateLimiter } from "../../../base/rate-limiter.ts";
import type { KubeClient } from "../../../kube/port.ts";
import type { CorrelatedEvent } from "./correlate-events.ts";
import type { NodeEvent } from "./make-event.ts";

/** What `sendEvent` needs. */
interface SendDeps {
  readonly client: Pick<KubeClient, "create" | "patch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limiter: RateLimiter;
}

const MAX_TRIES = 12;
const RETRY_MS = 10 * SECOND;
const MAX_RETRY_MS = 60 * SECOND;
const CALL_TIMEOUT_MS = 30 * SECOND;
/**
 * The reasons with which the server refuses only for now. Upstream gives up on these too, and so loses the events of a
 * server's restart.
 */
const PASSING: readonly ApiErrorReason[] = ["TooManyRequests", "ServiceUnavailable", "Timeout"];

/**
 * Writes one event, and delays all others until it is written or given up (client-go/tools/record/event.go,
 * `recordToSink`): a server that cannot be reached is asked 12 times, one that refuses only once. Rejects only with an
 * abort.
 */
export async function sendEvent(deps: SendDeps, correlated: CorrelatedEvent, signal: AbortSignal): Promise<void> {
  const { clock, random, log } = deps;
  const fields = logFieldsOf(correlated.event);
  for (let tries = 1; ; tries++) {
    try {
      await write(deps, correlated, { signal, isRetry: tries > 1 });
      return;
    } catch (error) {
      if (signal.aborted || isAbort(error)) throw error;
      if (isApiError(error) && !PASSING.includes(error.reason)) {
        logRefusal(log, error, fields);
        return;
      }
      if (tries >= MAX_TRIES) {
        log.error("Unable to write event (retry limit exceeded!)", { ...fields, error: messageOf(error) });
        return;
      }
      log.warn("Unable to write event (may retry after sleeping)", { ...fields, error: messageOf(error) });
      // The first wait differs from node to node, so that the nodes do not all come back at once.
      const delayMs = tries === 1 ? RETRY_MS * random.next() : RETRY_MS;
      await sleep(clock, Math.max(delayMs, retryAfterMs(error)), signal);
    }
  }
}

async function write(
  deps: SendDeps,
  { event, isRepeated }: CorrelatedEvent,
  { signal, isRetry }: { signal: AbortSignal; isRetry: boolean },
): Promise<void> {
  const options = { signal, timeoutMs: CALL_TIMEOUT_MS };
  if (isRepeated) {
    const { count, lastTimestamp, message } = event;
    const body = { count, lastTimestamp, message };
    await deps.limiter.acquire(signal);
    try {
      await deps.client.patch(EVENTS, event.metadata, { type: "strategic", body }, options);
      return;
    } catch (error) {
      // The server keeps events for an hour; an event that is repeated later is created there again, with its count.
      if (!isApiError(error, "NotFound")) throw error;
    }
  }
  await deps.limiter.acquire(signal);
  try {
    await deps.client.create(EVENTS, event, options);
  } catch (error) {
    // The earlier try has created the event, and only its answer was lost.
    if (!(isRetry && isApiError(error, "AlreadyExists"))) throw error;
  }
}

function retryAfterMs(error: unknown): number {
  const seconds = isApiError(error) ? (error.details.retryAfterSeconds ?? 0) : 0;
  return Math.min(MAX_RETRY_MS, seconds * SECOND);
}

/** Logs a refusal. A namespace that is being deleted takes no more events, which only deserves a debug message. */
function logRefusal(log: Log, error: ApiError, fields: Readonly<Record<string, unknown>>): void {
  const isUsual =
    error.reason === "AlreadyExists" || error.details.causes?.some(({ reason }) => reason === "NamespaceTerminating");
  const message = "Server rejected event (will not retry!)";
  if (isUsual === true) log.debug(message, { ...fields, error: error.message }, 5);
  else log.warn(message, { ...fields, error: error.message });
}

/** Returns the log fields that name an event. */
export function logFieldsOf({ metadata, involvedObject, type, reason, message }: NodeEvent): Record<string, unknown> {
  const { kind, namespace, name, fieldPath } = involvedObject;
  const object = namespace === undefined ? name : `${namespace}/${name}`;
  return { event: metadata.name, kind, object, ...(fieldPath !== undefined && { fieldPath }), type, reason, message };
}
