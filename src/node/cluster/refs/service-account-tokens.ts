import { createHash } from "node:crypto";
import type { TokenRequest } from "../../../api/gen/types.ts";
import { SERVICE_ACCOUNTS, TOKEN_REQUESTS } from "../../../api/kube-resource.ts";
import { isAbort } from "../../../base/abort.ts";
import { type Clock, MINUTE, parseTime, SECOND } from "../../../base/clock.ts";
import { CodedError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import { createSharedCalls } from "../../../base/shared-calls.ts";
import { describeKubeFailure } from "../../../kube/outage-log.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createAlarms } from "./alarms.ts";
import { readShownToken } from "./shown-token.ts";

/** Tokens with which containers prove their service account, each bound to its pod. */
export interface ServiceAccountTokens {
  /**
   * Returns a token that is valid now: the last one, or a new one when that is due (see `refreshAfterMs`). After a start
   * the last one is what the pod is shown, so that a start asks the server for none. While the server gives no new one,
   * the last is returned for as long as it is valid. Otherwise rejects with a TokenError, or with AbortedError.
   */
  get(request: ServiceAccountTokenRequest, signal: AbortSignal): Promise<ServiceAccountToken>;
  /** Drops the tokens of a pod that is gone. */
  forgetPod(podUid: string): void;
  /** Returns the UIDs of the pods whose tokens are held. */
  podUids(): readonly string[];
  /**
   * The listener is called with the pod when it is time for its next token, which the listener's side has to ask for.
   * It must not throw. Returns a function that ends the subscription.
   */
  subscribe(listener: (podUid: string) => void): () => void;
  /** Checks until the signal fires which tokens are due. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ServiceAccountTokenRequest {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** An account of the same name with another UID gets no token. Default: any UID. */
  readonly serviceAccountUid?: string | undefined;
  /** An empty list means the API server's own audience. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The token ends when this pod ends. */
  readonly pod: { readonly name: string; readonly uid: string };
  /** The token that the pod is shown already, of a process before this one; undefined where there is none. */
  shown?(): Promise<string | undefined>;
}

interface ServiceAccountToken {
  readonly token: string;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly expiresAt: number;
  /** When to ask for the next token, in milliseconds from when this one was given. */
  readonly refreshAfterMs: number;
}

interface ServiceAccountTokensDeps {
  readonly client: Pick<KubeClient, "createBeneath">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * `not-fetched`: there was no token, and the server gave none. `expired`: the last one is no longer valid, and the
 * server gave none.
 */
class TokenError extends CodedError<"not-fetched" | "expired"> {
  override readonly name = "TokenError";
}

// These values are those of pkg/kubelet/token/token_manager.go.
const MAX_AGE_MS = 24 * 60 * MINUTE;
const REFRESH_AT = 0.8;
const MAX_JITTER_MS = 10 * SECOND;
/** A server whose tokens end at once, or have ended, is not asked for the next one sooner. */
const MIN_REFRESH_MS = 10 * SECOND;
const SWEEP_PERIOD_MS = MINUTE;
/** Beyond this number the token that was requested first is dropped, and requested again when it is needed. */
const MAX_TOKENS = 4_096;
const REQUEST_TIMEOUT_MS = 10 * SECOND;
/** A caller that has a valid token does not wait long, nor each time, for a server that is unreachable. */
const REFRESH_TIMEOUT_MS = 3 * SECOND;
const REFRESH_RETRY_MS = 10 * SECOND;
/** A pod whose token could not be refreshed is woken again, if nothing else has done so. */
const WAKE_AGAIN_MS = MINUTE;

interface HeldToken {
  readonly token: ServiceAccountToken;
  readonly podUid: string;
  /** The time by the wall clock, and by the clock that does not jump. */
  readonly receivedAt: number;
  readonly receivedMonotonic: number;
  readonly lifeMs: number;
  /** The time of the next try after a refresh that failed, by the clock that does not jump. */
  retryAt: number;
  /** Until then the token is used whatever it says of itself, by the same clock. */
  readonly restsUntil: number;
}

export function createServiceAccountTokens(deps: ServiceAccountTokensDeps): ServiceAccountTokens {
  const { clock, log } = deps;
  const held = new Map<string, HeldToken>();
  const calls = createSharedCalls<ServiceAccountToken>();
  const flights = new Set<{ readonly podUid: string; isForgotten: boolean }>();
  const alarms = createAlarms(clock);
  const listeners = new Set<(podUid: string) => void>();
  let sweptAt = clock.monotonic();

  const drop = (key: string) => {
    held.delete(key);
    alarms.clear(key);
  };

  const tell = (key: string) => {
    const podUid = held.get(key)?.podUid;
    if (podUid !== undefined) for (const listener of listeners) listener(podUid);
  };

  /** Drops expired tokens, except the one that is asked for now: its caller is told that it expired. */
  const sweep = (askedFor: string) => {
    if (clock.monotonic() - sweptAt < SWEEP_PERIOD_MS) return;
    sweptAt = clock.monotonic();
    for (const [key, one] of held) if (key !== askedFor && isExpired(one, clock)) drop(key);
  };

  const keep = (key: string, token: HeldToken) => {
    held.delete(key);
    held.set(key, token);
    alarms.set(key, Math.max(token.token.refreshAfterMs - ageOf(token, clock), token.restsUntil - clock.monotonic()));
    const [oldest] = held.keys();
    if (held.size > MAX_TOKENS && oldest !== undefined) drop(oldest);
  };

  const takeUp = async (key: string, request: ServiceAccountTokenRequest): Promise<HeldToken | undefined> => {
    const text = held.has(key) ? undefined : await request.shown?.().catch(() => undefined);
    const lease = text === undefined ? undefined : readShownToken(text, request);
    if (text === undefined || lease === undefined) return undefined;
    const { issuedAt: receivedAt, expiresAt } = lease;
    const given = { token: text, expiresAt, receivedAt, lifeMs: expiresAt - receivedAt, restsUntil: clock.monotonic() };
    const found = hold(deps, request, given);
    return isDue(found, clock) ? undefined : found;
  };

  const refresh = async (key: string, request: ServiceAccountTokenRequest, signal: AbortSignal) => {
    const last = held.get(key);
    const isValid = last !== undefined && !isExpired(last, clock);
    const flight = { podUid: request.pod.uid, isForgotten: false };
    flights.add(flight);
    try {
      const timeoutMs = isValid ? REFRESH_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
      const fresh = (await takeUp(key, request)) ?? (await requestToken(deps, request, { signal, timeoutMs }));
      if (!flight.isForgotten) keep(key, fresh);
      return fresh.token;
    } catch (error) {
      if (isAbort(error)) throw error;
      if (last === undefined || isExpired(last, clock)) throw toTokenError(error, request, last !== undefined);
      last.retryAt = clock.monotonic() + REFRESH_RETRY_MS;
      if (held.get(key) === last) alarms.set(key, WAKE_AGAIN_MS);
      const { namespace, serviceAccount, pod } = request;
      const fields = {
        serviceAccount: `${namespace}/${serviceAccount}`,
        pod: `${pod.name}_${namespace}`,
        uid: pod.uid,
      };
      log.warn("Failed to refresh a token, the last one is used on", { ...fields, error: describeKubeFailure(error) });
      return last.token;
    } finally {
      flights.delete(flight);
    }
  };

  return {
    async get(request, signal) {
      const key = keyOf(request);
      sweep(key);
      const last = held.get(key);
      if (last !== undefined && !isDue(last, clock)) return last.token;
      return await calls.join(key, signal, async (callSignal) => refresh(key, request, callSignal));
    },
    podUids: () => [...held.values()].map(({ podUid }) => podUid),
    forgetPod(podUid) {
      for (const [key, one] of held) if (one.podUid === podUid) drop(key);
      for (const flight of flights) if (flight.podUid === podUid) flight.isForgotten = true;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    run: async (signal) => alarms.run(signal, tell),
  };
}

/**
 * A token is due at 80 % of its life or a day after it was given, a little earlier by chance. It is also due when the
 * wall clock went back behind the time of the token, because then its age by that clock means nothing. The age is
 * measured by both clocks: the wall clock may jump, and the monotonic one may stand still while the machine sleeps.
 */
function isDue(held: HeldToken, clock: Clock): boolean {
  if (clock.monotonic() < held.restsUntil) return false;
  if (isExpired(held, clock)) return true;
  if (clock.monotonic() < held.retryAt) return false;
  return ageOf(held, clock) >= held.token.refreshAfterMs || clock.now() < held.receivedAt;
}

function ageOf({ receivedMonotonic, receivedAt }: HeldToken, clock: Clock): number {
  return Math.max(clock.monotonic() - receivedMonotonic, clock.now() - receivedAt);
}

function isExpired({ token, receivedMonotonic, lifeMs }: HeldToken, clock: Clock): boolean {
  return clock.now() >= token.expiresAt || clock.monotonic() - receivedMonotonic >= lifeMs;
}

async function requestToken(
  deps: ServiceAccountTokensDeps,
  request: ServiceAccountTokenRequest,
  call: { signal: AbortSignal; timeoutMs: number },
): Promise<HeldToken> {
  const { namespace, serviceAccount, audiences, expirationSeconds, pod } = request;
  const body: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    ...(request.serviceAccountUid !== undefined && { metadata: { uid: request.serviceAccountUid } }),
    spec: {
      audiences: [...audiences],
      expirationSeconds,
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid },
    },
  };
  const child = { subresource: "token", resource: TOKEN_REQUESTS, body, ...call };
  const answer = await deps.client.createBeneath(SERVICE_ACCOUNTS, { namespace, name: serviceAccount }, child);
  const expiresAt = parseTime(answer.status?.expirationTimestamp);
  const token = answer.status?.token ?? "";
  if (token === "" || expiresAt === undefined) throw new Error("the answer holds no token");
  // The server may have given the token another lifetime than was asked for.
  const lifeMs = (answer.spec?.expirationSeconds ?? expirationSeconds) * SECOND;
  const restsUntil = deps.clock.monotonic() + MIN_REFRESH_MS;
  return hold(deps, request, { token, expiresAt, receivedAt: deps.clock.now(), lifeMs, restsUntil });
}

interface GivenToken extends Pick<HeldToken, "receivedAt" | "lifeMs" | "restsUntil"> {
  readonly token: string;
  readonly expiresAt: number;
}

function hold(
  { clock, random }: Pick<ServiceAccountTokensDeps, "clock" | "random">,
  { pod }: ServiceAccountTokenRequest,
  { token, expiresAt, receivedAt, lifeMs, restsUntil }: GivenToken,
): HeldToken {
  const agedMs = Math.min(REFRESH_AT * lifeMs, MAX_AGE_MS) - random.next() * MAX_JITTER_MS;
  const refreshAfterMs = Math.max(MIN_REFRESH_MS, agedMs);
  return {
    token: { token, expiresAt, refreshAfterMs },
    podUid: pod.uid,
    receivedAt,
    receivedMonotonic: clock.monotonic() - (clock.now() - receivedAt),
    lifeMs,
    retryAt: 0,
    restsUntil,
  };
}

/** Makes an error with upstream's words, and without anything secret. */
function toTokenError(error: unknown, request: ServiceAccountTokenRequest, hadToken: boolean): TokenError {
  const reason = describeKubeFailure(error);
  const options = error instanceof SyntaxError ? {} : { cause: error };
  if (!hadToken) return new TokenError("not-fetched", `failed to fetch token: ${reason}`, options);
  const { serviceAccount, namespace, audiences, expirationSeconds, pod } = request;
  const key = [serviceAccount, namespace, audiences, expirationSeconds, pod]
    .map((part) => JSON.stringify(part))
    .join("/");
  return new TokenError("expired", `token ${key} expired and refresh failed: ${reason}`, options);
}

function keyOf(request: ServiceAccountTokenRequest): string {
  const { namespace, serviceAccount, serviceAccountUid = "", audiences, expirationSeconds, pod } = request;
  const parts = [namespace, serviceAccount, serviceAccountUid, audiences, expirationSeconds, pod.name, pod.uid];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}
