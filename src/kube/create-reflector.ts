import { type ApiError, isApiError } from "../api/api-error.ts";
import { AbortedError, childController, sleep, throwIfAborted } from "../base/abort.ts";
import { assert } from "../base/assert.ts";
import { type Clock, MINUTE, SECOND } from "../base/clock.ts";
import type { Log, LogFields } from "../base/log.ts";
import { jitter, type Random } from "../base/random.ts";
import { createOutageLog, type OutageLog } from "./outage-log.ts";
import { type KubeClient, type KubeList, KubeUnreachableError, type WatchEvent, type WatchOptions } from "./port.ts";
import { createReflectedObjects } from "./reflected-objects.ts";
import type { Reflector, ReflectorChange, ReflectorOptions } from "./reflector.ts";
import { isOlderRevision } from "./revision-order.ts";

export interface ReflectorDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

// The values of client-go (tools/cache/reflector.go).
const INITIAL_DELAY_MS = 800;
const MAX_DELAY_MS = 30 * SECOND;
/** Each delay grows by a random part of itself up to this one, so that nodes do not come back all at once. */
const DELAY_JITTER = 1;
/** After a watch that lasted so long, the delays begin anew. */
const GOOD_RUN_MS = 2 * MINUTE;
/** A watch that ends sooner and without an event counts as a failure; after one with events, the next waits for so long. */
const SHORT_WATCH_MS = SECOND;
/** A server that gives up the revision of its list sooner is listed at once only once, then after growing waits. */
const EARLY_EXPIRY_MS = 10 * SECOND;
const MIN_WATCH_MS = 5 * MINUTE;
/** A server that lets a watch go on for so much longer than asked has forgotten it. */
const OVERRUN_MS = 30 * SECOND;
/** The longest wait that a server may ask for in Retry-After. */
const MAX_RETRY_AFTER_MS = MINUTE;

/**
 * A reflector over a client. It lists from the server's cache, then watches; a watch that ends in order goes on from its
 * last revision, anything else gives a new list that is no older than what is known, so that the copy never goes back. A
 * revision that the server cannot give (kept no longer, or of a future that was lost with the server's data) is answered
 * by a list from its store. So is a list that is older than what was asked for: a cache that is behind, or a server that
 * has come back with nothing, ends no pod by one answer. What the store says is believed, as client-go believes any list.
 *
 * A list that is answered with NotFound is a failure like any other. client-go takes it for an empty list; behind a proxy
 * without a backend that would end every pod.
 */
export function createReflector<T>(deps: ReflectorDeps, options: ReflectorOptions<T>): Reflector<T> {
  const { client, clock, random, log } = deps;
  const { resource, namespace, fieldSelector, labelSelector } = options;
  const selection = { namespace, fieldSelector, labelSelector };
  const objects = createReflectedObjects<T>();
  const outage = createOutageLog(log, describeSelection(options));
  const retries = createRetryDelay(random);
  const waiting = new Set<() => void>();
  let crash: { readonly error: unknown } | undefined;
  let isRunning = false;
  let hasSynced = false;
  let revision = "";
  let isRevisionLost = false;
  let wasEarlyExpiry = false;

  const publish = (changes: ReadonlyArray<ReflectorChange<T>>) => {
    if (changes.length === 0) return;
    try {
      options.onChange?.(changes);
    } catch (error) {
      // A bug of ours must not be mistaken for a failure of the server.
      crash = { error };
      throw error;
    }
  };

  const requestList = async (signal: AbortSignal): Promise<KubeList<T>> => {
    const resourceVersion = isRevisionLost ? "" : revision || "0";
    try {
      const list = await client.list(resource, { ...selection, resourceVersion, signal });
      if (isRevisionLost || !isOlderRevision(list.resourceVersion, revision)) return list;
      log.warn("The API server answered with an older list than was asked for; its store is asked", {
        ...describeSelection(options),
        asked: revision,
        answered: list.resourceVersion,
      });
    } catch (error) {
      if (isRevisionLost || !isRevisionUnavailable(error)) throw error;
    }
    isRevisionLost = true;
    throwIfAborted(signal);
    return await client.list(resource, { ...selection, resourceVersion: "", signal });
  };

  const list = async (signal: AbortSignal) => {
    const { items, resourceVersion } = await requestList(signal);
    throwIfAborted(signal);
    const changes = objects.replace(items);
    revision = resourceVersion;
    isRevisionLost = false;
    hasSynced = true;
    publish(changes);
    for (const wake of waiting) wake();
    waiting.clear();
  };

  const onEvent = (event: WatchEvent<T>) => {
    outage.recovered();
    if (event.resourceVersion !== "") revision = event.resourceVersion;
    if (event.type !== "BOOKMARK") publish(objects.apply(event));
  };

  /** Returns when the next watch may begin at once where this one ended; throws when a list must come first. */
  const watch = async (signal: AbortSignal) => {
    const timeoutSeconds = Math.floor(jitter(random, MIN_WATCH_MS, 1) / SECOND);
    const call = { ...selection, resourceVersion: revision, timeoutSeconds };
    const { isInOrder, events, livedMs, error } = await watchOnce(deps, { resource, call, signal, outage }, onEvent);
    throwIfAborted(signal);
    if (livedMs >= GOOD_RUN_MS) retries.reset();
    const wasShort = livedMs < SHORT_WATCH_MS;
    if (isInOrder) {
      if (wasShort && events === 0) throw new Error("the watch ended at once, without an event");
      // Something on the way may end each answer after its first event.
      if (wasShort) await sleep(clock, SHORT_WATCH_MS - livedMs, signal);
    } else if (crash !== undefined || wasShort || events === 0 || !isBrokenConnection(error)) {
      throw error;
    }
  };

  /** Returns when a new list is due at once; throws when something is wrong. */
  const keepUp = async (signal: AbortSignal) => {
    await list(signal);
    const listedAt = clock.monotonic();
    try {
      for (;;) await watch(signal);
    } catch (error) {
      if (!isExpired(error)) throw error;
      const livedMs = clock.monotonic() - listedAt;
      const isAgain = wasEarlyExpiry && livedMs < EARLY_EXPIRY_MS;
      wasEarlyExpiry = livedMs < EARLY_EXPIRY_MS;
      // The list's own revision was refused: the server's cache is behind its store, so the store is asked.
      if (livedMs < SHORT_WATCH_MS) isRevisionLost = true;
      else if (!isAgain) return;
      throw error;
    }
  };

  const run = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        await keepUp(signal);
      } catch (error) {
        if (crash !== undefined) throw crash.error;
        if (signal.aborted) return;
        outage.failed(error);
        options.onFailure?.(error);
        await sleep(clock, retries.next(error), signal).catch(() => undefined);
      }
    }
  };

  return {
    async run(signal) {
      assert(!isRunning, "a reflector runs once at a time");
      isRunning = true;
      try {
        await run(signal);
      } finally {
        isRunning = false;
      }
    },
    get hasSynced() {
      return hasSynced;
    },
    async synced(signal) {
      if (!hasSynced) await joinWaiting(waiting, signal);
    },
    list: () => objects.list(),
    get: (objectNamespace, name) => objects.get(objectNamespace, name),
  };
}

interface WatchCall<T> {
  readonly resource: ReflectorOptions<T>["resource"];
  readonly call: Omit<WatchOptions, "signal">;
  readonly signal: AbortSignal;
  readonly outage: OutageLog;
}

interface WatchEnd {
  /** The number of events, bookmarks included. */
  readonly events: number;
  readonly livedMs: number;
  /** True: the server ended the watch as it was asked to; else there is an error. */
  readonly isInOrder: boolean;
  readonly error: unknown;
}

/** One watch from its request to its end, which always comes. */
async function watchOnce<T>(
  { client, clock }: ReflectorDeps,
  { resource, call, signal, outage }: WatchCall<T>,
  onEvent: (event: WatchEvent<T>) => void,
): Promise<WatchEnd> {
  const { controller, release } = childController(signal);
  const startedAt = clock.monotonic();
  const overrun = clock.setTimer(call.timeoutSeconds * SECOND + OVERRUN_MS, () => controller.abort());
  // An open watch is silent while nothing happens.
  const standing = outage.isFailing ? clock.setTimer(SHORT_WATCH_MS, () => outage.recovered()) : undefined;
  let events = 0;
  let isInOrder = false;
  let error: unknown;
  try {
    await client.watch(resource, { ...call, signal: controller.signal }, (event) => {
      if (controller.signal.aborted) return;
      events++;
      onEvent(event);
    });
    isInOrder = true;
  } catch (thrown) {
    error = controller.signal.aborted ? new Error("the watch went on past its time") : thrown;
  } finally {
    overrun.cancel();
    standing?.cancel();
    release();
  }
  return { isInOrder, events, livedMs: clock.monotonic() - startedAt, error };
}

/** Resolves when the reflector has synced; a caller that gives up leaves nothing behind. */
async function joinWaiting(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve, reject) => {
    const wake = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      waiting.delete(wake);
      reject(new AbortedError());
    };
    waiting.add(wake);
    signal.addEventListener("abort", leave, { once: true });
  });
}

interface RetryDelay {
  /** Milliseconds to wait after one more failure. */
  next(error: unknown): number;
  reset(): void;
}

function createRetryDelay(random: Random): RetryDelay {
  let delayMs = 0;
  return {
    next(error) {
      delayMs = Math.min(Math.max(INITIAL_DELAY_MS, 2 * delayMs), MAX_DELAY_MS);
      const askedForMs = isApiError(error) ? (error.details.retryAfterSeconds ?? 0) * SECOND : 0;
      return Math.max(jitter(random, delayMs, DELAY_JITTER), Math.min(askedForMs, MAX_RETRY_AFTER_MS));
    },
    reset: () => {
      delayMs = 0;
    },
  };
}

function isExpired(error: unknown): boolean {
  return isApiError(error, "Expired") || isApiError(error, "Gone");
}

/**
 * True where the revision is no longer kept, or the server has not reached it yet and perhaps never will, or cannot read
 * it: the same question would get the same answer for ever.
 */
function isRevisionUnavailable(error: unknown): boolean {
  return (
    isExpired(error) ||
    isApiError(error, "BadRequest") ||
    isApiError(error, "Invalid") ||
    (isApiError(error, "Timeout") && isTooLarge(error))
  );
}

/** Servers before 1.20 give no reason with the cause. */
function isTooLarge({ details }: ApiError): boolean {
  return (details.causes ?? []).some(({ reason, message }) => {
    return reason === "ResourceVersionTooLarge" || message === "Too large resource version";
  });
}

function isBrokenConnection(error: unknown): boolean {
  return error instanceof KubeUnreachableError && error.code === "unreachable";
}

function describeSelection<T>({ resource, namespace, fieldSelector, labelSelector }: ReflectorOptions<T>): LogFields {
  return {
    resource: resource.plural,
    ...(namespace !== undefined && { namespace }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(labelSelector !== undefined && { labelSelector }),
  };
}
