import { childController, isAbort, sleep } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { type Clock, formatTime, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { jitter, type Random } from "../../../base/random.ts";
import type { Files } from "../../../host/port.ts";
import type { KubeClient } from "../../../kube/port.ts";
import type { CertificateSubject } from "../../../pki/certificate-names.ts";
import { type CertificateFacts, type KeyedCertificate, readCertificate } from "../../../pki/read-certificate.ts";
import { CertificateError } from "./certificate-error.ts";
import { createRenewal } from "./certificate-renewal.ts";
import { createCertificateStore, type PairName } from "./certificate-store.ts";
import { createRotationMetrics } from "./rotation-metrics.ts";
import { computeRotationTime, findMissing, isSameSubject } from "./rotation-plan.ts";

/** One of the node's certificates, kept valid for as long as it runs. */
export interface CertificateRotation {
  /**
   * Reads the certificate that is there, and then renews it before it ends, until the signal fires. Every failure is
   * logged and tried again; the certificate that is there stays in use until the new one is on disk.
   */
  run(signal: AbortSignal): Promise<void>;
  /** The certificate is undefined before there is a first one, and when it has expired. */
  current(): CurrentCertificate | undefined;
  /**
   * The listener is called with each new certificate, including the one that was found on disk. Returns a function that
   * ends the subscription.
   */
  subscribe(listener: (certificate: CurrentCertificate) => void): () => void;
  /** Tells that the subject may have changed, so that it is looked at now and not within the next minute. */
  reconsider(): void;
}

export interface CurrentCertificate extends KeyedCertificate {
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

interface RotationDeps {
  readonly client: Pick<KubeClient, "create" | "get" | "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files;
  readonly metrics?: Metrics | undefined;
}

export interface RotationOptions {
  readonly signerName: string;
  readonly usages: readonly string[];
  /** Called at each look. The subject is undefined while it is not known which names the certificate must have. */
  subject(): CertificateSubject | undefined;
  readonly pairName: PairName;
  readonly certDirectory: string;
  /** Reads the certificate that is kept where there is none yet. Default: none, and one is requested at once. */
  readFirst?(): Promise<KeyedCertificate | undefined>;
}

/**
 * The time between two looks. It suffices for a wall clock that jumps and for a subject that changes; upstream looks
 * every second.
 */
const LOOK_MS = MINUTE;
const FIRST_RETRY_MS = 2 * SECOND;
const MAX_RETRY_MS = 32 * SECOND;
/** A certificate that has little time is not followed by the next at once. */
const MIN_LIFE_MS = 10 * SECOND;
/** The delay after a denial. Asking again at once would only fill the cluster with requests. */
const FIRST_DENIED_RETRY_MS = 5 * MINUTE;
const MAX_DENIED_RETRY_MS = 60 * MINUTE;

interface Held {
  readonly pair: CurrentCertificate;
  readonly facts: CertificateFacts;
  readonly rotateAt: number;
}

export function createCertificateRotation(deps: RotationDeps, options: RotationOptions): CertificateRotation {
  const { clock, random, files } = deps;
  const log = deps.log.with({ certificate: options.pairName });
  const metrics = createRotationMetrics(deps.metrics, options.pairName);
  const store = createCertificateStore({ files, clock }, { directory: options.certDirectory, ...options });
  const renewal = createRenewal({ ...deps, log }, options);
  const listeners = new Set<(certificate: CurrentCertificate) => void>();
  let held: Held | undefined;
  /** The subject that the held certificate was issued for, where this run has asked for it. */
  let issuedFor: CertificateSubject | undefined;
  let wake = () => {};

  const hold = ({ certificatePem, keyPem }: KeyedCertificate) => {
    const facts = readCertificate(certificatePem);
    const rotateAt = computeRotationTime(facts, random);
    held = { pair: { certificatePem, keyPem, notAfter: facts.notAfter }, facts, rotateAt };
    log.info("Certificate rotation deadline determined", {
      expiration: formatTime(facts.notAfter),
      deadline: formatTime(rotateAt),
    });
    for (const listener of listeners) listener(held.pair);
  };

  const load = async () => {
    try {
      const stored = await store.read();
      const first = stored === undefined ? await options.readFirst?.() : undefined;
      if (first !== undefined) await store.write(first);
      const pair = stored ?? first;
      if (pair !== undefined) hold(pair);
    } catch (error) {
      log.error("The certificate on disk cannot be read, a new one is requested", { error: messageOf(error) });
    }
  };

  /** Tells why the certificate must be replaced now; undefined when it need not be. */
  const findReason = (subject: CertificateSubject): string | undefined => {
    if (held === undefined) return "there is none";
    if (clock.now() >= held.facts.notAfter) return "it has expired";
    if (clock.now() >= held.rotateAt) return "it is near its end";
    const missing = findMissing(held.facts, subject);
    // Without this check, a signer that leaves something out would be asked for it again and again.
    return missing.length === 0 || isSameSubject(issuedFor, subject) ? undefined : `it lacks ${missing.join(", ")}`;
  };

  const renew = async (subject: CertificateSubject, signal: AbortSignal) => {
    const pair = await renewal.ask(subject, signal);
    if (pair === undefined) return;
    await store.write(pair);
    renewal.finish();
    if (held !== undefined) metrics.observeRotation((clock.now() - held.facts.notBefore) / 1000);
    issuedFor = subject;
    hold(pair);
    const missing = held === undefined ? [] : findMissing(held.facts, subject);
    if (missing.length > 0) log.warn("The certificate was issued without all that was asked for", { missing });
  };

  const pause = async (ms: number, signal: AbortSignal) => {
    const { controller, release } = childController(signal);
    wake = () => controller.abort();
    try {
      await sleep(clock, ms, controller.signal);
    } catch (error) {
      if (signal.aborted || !isAbort(error)) throw error;
    } finally {
      release();
    }
  };

  const look = async (signal: AbortSignal, failures: Failures): Promise<void> => {
    metrics.setTtl(
      held === undefined ? Number.POSITIVE_INFINITY : Math.trunc((held.facts.notAfter - clock.now()) / 1000),
    );
    const subject = options.subject();
    const reason = subject && findReason(subject);
    const waitMs = failures.waitMs(clock.monotonic());
    if (subject === undefined || reason === undefined || waitMs > 0) {
      const untilDue = held === undefined ? 0 : held.rotateAt - clock.now();
      const untilNext = waitMs > 0 ? waitMs : untilDue > 0 ? untilDue : LOOK_MS;
      await pause(Math.min(LOOK_MS, untilNext), signal);
      return;
    }
    log.info("Rotating certificates", { reason });
    try {
      await renew(subject, signal);
      const lifeMs = held === undefined ? Number.POSITIVE_INFINITY : held.facts.notAfter - clock.now();
      failures.clear(clock.monotonic(), lifeMs < MIN_LIFE_MS ? MIN_LIFE_MS : SECOND);
    } catch (error) {
      if (signal.aborted) throw error;
      metrics.countFailure();
      const delayMs = failures.count(error, clock.monotonic());
      log.error("The certificate could not be renewed", { error: messageOf(error), retryInMs: Math.round(delayMs) });
    }
  };

  return {
    async run(signal) {
      try {
        await load();
        const failures = createFailures(random);
        while (!signal.aborted) await look(signal, failures);
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
    current: () => (held !== undefined && clock.now() < held.facts.notAfter ? held.pair : undefined),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reconsider() {
      renewal.reconsider();
      wake();
    },
  };
}

/** Computes how long to wait after a number of failures in a row. All times are monotonic milliseconds. */
interface Failures {
  /** Counts a failure and returns the delay. */
  count(error: unknown, now: number): number;
  /** Forgets the failures; the delay holds for what comes next. */
  clear(now: number, delayMs: number): void;
  waitMs(now: number): number;
}

function createFailures(random: Random): Failures {
  let inARow = 0;
  let retryAt = Number.NEGATIVE_INFINITY;
  return {
    count(error, now) {
      inARow++;
      const delayMs = jitter(random, computeBackOff(inARow, retryRange(error)), 0.1);
      retryAt = now + delayMs;
      return delayMs;
    },
    clear(now, delayMs) {
      inARow = 0;
      // A subject that changes all the time is followed, but not more often than once per second.
      retryAt = now + delayMs;
    },
    waitMs: (now) => Math.max(0, retryAt - now),
  };
}

/** Each request that was answered, with a no or with what is of no use, stays in the cluster for an hour. */
function retryRange(error: unknown): { readonly initialMs: number; readonly maxMs: number } {
  const code = error instanceof CertificateError ? error.code : undefined;
  const isDenied = code === "denied" || code === "failed";
  const initialMs = isDenied ? FIRST_DENIED_RETRY_MS : FIRST_RETRY_MS;
  return { initialMs, maxMs: isDenied || code === "incompatible" ? MAX_DENIED_RETRY_MS : MAX_RETRY_MS };
}
