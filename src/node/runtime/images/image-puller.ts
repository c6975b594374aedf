import type { Container, Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { createBackOff } from "../../../base/back-off.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { createRateLimiter } from "../../../base/rate-limiter.ts";
import type { Decision, Timeline } from "../../../base/timeline.ts";
import { formatDuration } from "../../../config/duration.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { ImageClaims } from "./image-claims.ts";
import type { ImageFailure, ImageOutcome, PresentImage, PullFailureReason } from "./image-outcome.ts";
import type { PullCredentials } from "./pull-credentials.ts";
import { createPullObserver } from "./pull-duration.ts";
import { ImagePullError, type PulledImage, pullImage } from "./pull-image.ts";
import type { PullProgress } from "./pull-progress.ts";
import { readImage } from "./read-image.ts";

/** Pulls images with a back-off for each pod and image, and records events. */
interface ImagePuller {
  pull(request: ImagePull, signal: AbortSignal): Promise<ImageOutcome>;
}

interface ImagePull {
  readonly pod: Pod;
  readonly container: Container;
  /** Finds credentials. It is called before the pull has a place in the line, which a silent API server must not occupy. */
  credentials(): Promise<readonly PullCredentials[]>;
}

export interface ImagePullerDeps {
  readonly images: Pick<Cri["images"], "imageStatus" | "pullImage">;
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly metrics: Metrics;
  /** Notes who may use what is pulled; undefined: every pod may. */
  readonly recordPull:
    | ((image: string, pull: () => Promise<PulledImage>, signal: AbortSignal) => Promise<PulledImage>)
    | undefined;
  /** Keeps what is about to be used from being removed. */
  readonly claims: Pick<ImageClaims, "claim" | "duringPull">;
  readonly progress: PullProgress;
}

/**
 * How long a failed pull is shown before its back-off is shown: the two reasons that users know, one after the other. A
 * Go kubelet comes to show the second because another change makes it sync the pod again.
 */
const FAILURE_SHOWN_MS = SECOND;
const BACK_OFF = { initialMs: 10 * SECOND, maxMs: 5 * MINUTE };

/** How many images are pulled. */
export interface PullLimits {
  /** At once. */
  readonly parallelPulls: number;
  /** The pulls that begin a second in the long run, and at once at most. Default: as many as there are. */
  readonly rate?: { readonly qps: number; readonly burst: number } | undefined;
}

export function createImagePuller(deps: ImagePullerDeps, { parallelPulls, rate }: PullLimits): ImagePuller {
  const { images, clock, timeline, claims } = deps;
  const backOff = createBackOff(BACK_OFF);
  const failures = new Map<string, { at: number; message: string }>();
  const pulls = createLimiter(parallelPulls);
  const turns = createRateLimiter(clock, rate ?? { qps: 0, burst: 0 });
  const observePull = createPullObserver(deps.metrics);

  const collect = (now: number) => {
    for (const [key, { at }] of failures) if (now - at > 2 * BACK_OFF.maxMs) failures.delete(key);
    backOff.collect(now);
  };

  /** The failure to show while the back-off lasts; undefined when it is time to pull. */
  const waitOf = (key: string, image: string): (ImageFailure & { event: string }) | undefined => {
    const last = failures.get(key);
    const until = backOff.waitUntil(key, last?.at ?? 0, clock.now());
    if (until === undefined) return undefined;
    const event = `Back-off pulling image "${image}"`;
    // The message repeats the cause, because the status outlives the event that told it.
    const message = last === undefined ? event : `${event}: ${last.message}`;
    return { reason: "ImagePullBackOff", message, retryAt: until, event };
  };

  return {
    async pull({ pod, container, credentials }, signal) {
      const image = container.image ?? "";
      const key = `${podReference(pod).uid}/${image}`;
      const say = (type: "Normal" | "Warning", reason: string, message: string, more: Pick<Decision, "tookMs"> = {}) =>
        timeline.record(podReference(pod), { type, reason, message, container: container.name, ...more });
      const waiting = waitOf(key, image);
      if (waiting !== undefined) {
        const { event, ...failure } = waiting;
        say("Normal", "BackOff", event);
        return failure;
      }
      collect(clock.now());
      const queuedAt = clock.monotonic();
      const pullOnce = async (found: readonly PullCredentials[]): Promise<PresentImage> => {
        say("Normal", "Pulling", `Pulling image "${image}"`);
        const startedAt = clock.monotonic();
        const spec = cri.ImageSpec.fromPartial({ image, annotations: pod.metadata?.annotations ?? {} });
        const tell = (progress: string) => {
          const message = `Still pulling image "${image}": ${progress}`;
          const decision = { type: "Normal", reason: "PullProgress", message, isProgress: true } as const;
          timeline.record(podReference(pod), { ...decision, container: container.name });
        };
        const start = async () =>
          await deps.progress.during(async () => await pullImage(images, spec, found, signal), tell);
        const { imageRef } = await (deps.recordPull?.(image, start, signal) ?? start());
        const pulled = await readImage(images, imageRef, signal);
        await claims.claim(pulled?.imageRef ?? imageRef, signal);
        observePull((clock.monotonic() - queuedAt) / SECOND, pulled?.sizeBytes ?? 0n);
        const tookMs = Math.trunc(clock.monotonic() - startedAt);
        const waited = formatDuration(Math.trunc(clock.monotonic() - queuedAt));
        const size = `Image size: ${pulled?.sizeBytes ?? 0n} bytes.`;
        const took = `in ${formatDuration(tookMs)} (${waited} including waiting)`;
        say("Normal", "Pulled", `Successfully pulled image "${image}" ${took}. ${size}`, { tookMs });
        return { imageRef, user: pulled?.user ?? { uid: undefined, username: "" } };
      };
      try {
        const found = await credentials();
        await turns.acquire(signal);
        const pullSafely = async () => await claims.duringPull(image, async () => await pullOnce(found));
        const present = await pulls.run(pullSafely, signal);
        backOff.reset(key);
        failures.delete(key);
        return present;
      } catch (error) {
        signal.throwIfAborted();
        const at = clock.now();
        const { reason, message } = describeFailure(image, error);
        backOff.next(key, at, at);
        failures.set(key, { at, message: `${reason}: ${message}` });
        say("Warning", "Failed", `Failed to pull image "${image}": ${messageOf(error)}`);
        return { reason, message, retryAt: at + FAILURE_SHOWN_MS };
      }
    },
  };
}

function describeFailure(image: string, error: unknown): { reason: PullFailureReason; message: string } {
  const told = error instanceof ImagePullError ? error.told : undefined;
  if (told === undefined) return { reason: "ErrImagePull", message: messageOf(error) };
  const why = told.reason === "RegistryUnavailable" ? "the registry is unavailable" : "the signature validation failed";
  return { reason: told.reason, message: `image pull failed for ${image} because ${why}${told.detail}` };
}
