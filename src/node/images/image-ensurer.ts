import type { Container, Pod } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { createBackOff } from "../../base/back-off.ts";
import type { Clock } from "../../base/clock.ts";
import { MINUTE, SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { createLimiter } from "../../base/limiter.ts";
import type { Timeline } from "../../base/timeline.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import type { RegistryCredentials } from "./docker-config.ts";
import { findCredentials, type ImagePullDeps, pullImage } from "./pull-image.ts";

/** The image, or the reason and message of the container's waiting state. */
export type ImageOutcome = PresentImage | ImageFailure;

export interface PresentImage {
  /** The image's id in the runtime. */
  imageRef: string;
  /** Whom its processes run as, if the pod does not say; neither is set for an image that does not say either. */
  user: { uid: bigint | undefined; username: string };
}

export interface ImageFailure {
  reason: "ErrImagePull" | "ImagePullBackOff" | "ErrImageNeverPull" | "ImageInspectError" | "InvalidImageName";
  message: string;
  /** When it makes sense to ask again, milliseconds since the epoch. */
  retryAt?: number;
}

/** Makes sure that the runtime has a container's image, by its pull policy, with a back-off per pod and image. */
export interface ImageEnsurer {
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<ImageOutcome>;
}

export interface ImageEnsurerDeps extends Pick<ImagePullDeps, "pullSecrets"> {
  images: Cri["images"];
  clock: Clock;
  timeline: Timeline;
}

export interface ImageEnsurerOptions {
  /** How many images are pulled at once. Kubelet's default is one at a time (`serializeImagePulls`). */
  parallelPulls: number;
}

/**
 * How long a failed pull is shown before its back-off is: the two reasons that users know, each in its turn. A kubelet
 * comes to show the second because something else has it look at the pod again.
 */
const FAILURE_SHOWN_MS = SECOND;
const BACK_OFF = { initialMs: 10 * SECOND, maxMs: 5 * MINUTE };

export function createImageEnsurer(deps: ImageEnsurerDeps, options: ImageEnsurerOptions): ImageEnsurer {
  const { images, clock, timeline } = deps;
  const backOff = createBackOff(BACK_OFF);
  const failures = new Map<string, { at: number; message: string }>();
  const pulls = createLimiter(options.parallelPulls);

  const pull = async (pod: Pod, container: Container, signal: AbortSignal): Promise<ImageOutcome> => {
    const image = container.image ?? "";
    const key = `${podReference(pod).uid}/${image}`;
    const say = (type: "Normal" | "Warning", reason: string, message: string) =>
      timeline.record(podReference(pod), { type, reason, message, container: container.name });
    const last = failures.get(key);
    const until = backOff.waitUntil(key, last?.at ?? 0, clock.now());
    if (until !== undefined) {
      const words = `Back-off pulling image "${image}"`;
      say("Normal", "BackOff", words);
      // The status outlives the event that told why.
      const message = last === undefined ? words : `${words}: ErrImagePull: ${last.message}`;
      return { reason: "ImagePullBackOff", message, retryAt: until };
    }
    collect(clock.now());
    const fail = (error: unknown): ImageFailure => {
      signal.throwIfAborted();
      const failed = clock.now();
      backOff.next(key, failed, failed);
      failures.set(key, { at: failed, message: messageOf(error) });
      say("Warning", "Failed", `Failed to pull image "${image}": ${messageOf(error)}`);
      return { reason: "ErrImagePull", message: messageOf(error), retryAt: failed + FAILURE_SHOWN_MS };
    };
    const queuedAt = clock.monotonic();
    const run = async (credentials: readonly RegistryCredentials[]): Promise<PresentImage> => {
      say("Normal", "Pulling", `Pulling image "${image}"`);
      const startedAt = clock.monotonic();
      const spec = cri.ImageSpec.fromPartial({ image, annotations: pod.metadata?.annotations ?? {} });
      const imageRef = await pullImage(images, spec, credentials, signal);
      const pulled = await readImage(images, imageRef, signal);
      const took = seconds(clock.monotonic() - startedAt);
      const waited = seconds(clock.monotonic() - queuedAt);
      say("Normal", "Pulled", `Successfully pulled image "${image}" in ${took} (${waited} including waiting)`);
      backOff.reset(key);
      failures.delete(key);
      return { imageRef, user: pulled?.user ?? { uid: undefined, username: "" } };
    };
    try {
      // Before the line: an API server that does not answer must not hold a place in it.
      const credentials = await findCredentials(deps, pod, image, signal);
      return await pulls.run(async () => await run(credentials), signal);
    } catch (error) {
      return fail(error);
    }
  };

  const collect = (now: number) => {
    for (const [key, { at }] of failures) if (now - at > 2 * BACK_OFF.maxMs) failures.delete(key);
    backOff.collect(now);
  };

  return {
    async ensureImage(pod, container, signal) {
      const image = container.image ?? "";
      const policy = container.imagePullPolicy ?? "IfNotPresent";
      const say = (type: "Normal" | "Warning", reason: string, message: string) =>
        timeline.record(podReference(pod), { type, reason, message, container: container.name });
      if (!isImageName(image)) {
        const message = `Failed to apply default image tag "${image}": couldn't parse image name: invalid reference format`;
        say("Warning", "InspectFailed", message);
        return { reason: "InvalidImageName", message };
      }
      if (policy !== "Always") {
        const present = await findImage(images, image, signal);
        if (present !== undefined && "reason" in present) {
          say("Warning", "InspectFailed", present.message);
          return present;
        }
        if (present !== undefined) {
          say(
            "Normal",
            "Pulled",
            `Container image "${image}" already present on machine and can be accessed by the pod`,
          );
          return present;
        }
        if (policy === "Never") {
          const message = `Container image "${image}" is not present with pull policy of Never`;
          say("Warning", "ErrImageNeverPull", message);
          return { reason: "ErrImageNeverPull", message };
        }
      }
      return await pull(pod, container, signal);
    },
  };
}

async function findImage(images: Cri["images"], image: string, signal: AbortSignal): Promise<ImageOutcome | undefined> {
  try {
    return await readImage(images, image, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return { reason: "ImageInspectError", message: `Failed to inspect image "${image}": ${messageOf(error)}` };
  }
}

/** Undefined when the runtime does not have it. */
async function readImage(images: Cri["images"], image: string, signal: AbortSignal): Promise<PresentImage | undefined> {
  const request = cri.ImageStatusRequest.fromPartial({ image: { image } });
  const { image: found } = await images.imageStatus(request, { signal });
  return found && { imageRef: found.id, user: { uid: found.uid?.value, username: found.username } };
}

/** The distribution project's grammar of references, loosely: what no registry could ever serve is told apart at once. */
function isImageName(image: string): boolean {
  return /^[A-Za-z0-9][\w.:[\]-]*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,})?$/.test(
    image,
  );
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)}ms` : `${(ms / 1_000).toFixed(3)}s`;
}
