import { untilAborted } from "../../../base/abort.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";

/**
 * Keeps the removal of images and their use apart: an image that a container is about to use is not removed between the
 * check for it and the container's start, and an image that is being removed does not count as present.
 */
export interface ImageClaims {
  /**
   * Claims an image that a container is about to use. False where it was being removed: the caller looks for it again.
   * Rejects with AbortedError when the signal fires.
   */
  claim(imageId: string, signal: AbortSignal): Promise<boolean>;
  /** Runs `pull`, which brings the image of this name as a pod writes it. No image of that name is removed meanwhile. */
  duringPull<T>(name: string, pull: () => Promise<T>): Promise<T>;
  /** When the image was last claimed, by `Clock.monotonic`; undefined where it was not claimed lately. */
  claimedAt(imageId: string): number | undefined;
  /** Until when a claim keeps the image; a time in the past where none does. */
  keptUntil(imageId: string): number;
  /** Removes the image; false, without a removal, where the image is needed. `names` are the runtime's names of it. */
  remove(
    image: { readonly id: string; readonly names: readonly string[] },
    removal: () => Promise<void>,
  ): Promise<boolean>;
  /** Adds a listener for the end of each pull; returns a function that removes it. */
  onPullEnd(listener: () => void): () => void;
}

/**
 * The container of a claim is made soon after, and then the runtime tells that the image is used. As long as an image
 * must be there by default before it is removed.
 */
const CLAIM_MS = 2 * MINUTE;

export function createImageClaims({ clock }: { readonly clock: Clock }): ImageClaims {
  /** The times of claims by image, in the order of the times. */
  const claims = new Map<string, number>();
  /** The names that are being pulled, with the number of pulls. */
  const pulling = new Map<string, number>();
  const removing = new Map<string, Promise<void>>();
  const listeners = new Set<() => void>();

  const forgetOld = () => {
    for (const [id, at] of claims) {
      if (at + CLAIM_MS > clock.monotonic()) return;
      claims.delete(id);
    }
  };
  const keptUntil = (id: string) => (claims.get(id) ?? Number.NEGATIVE_INFINITY) + CLAIM_MS;

  return {
    async claim(imageId, signal) {
      const removal = removing.get(imageId);
      if (removal !== undefined) {
        await untilAborted(removal, signal);
        return false;
      }
      forgetOld();
      claims.delete(imageId);
      claims.set(imageId, clock.monotonic());
      return true;
    },
    async duringPull(name, pull) {
      pulling.set(name, (pulling.get(name) ?? 0) + 1);
      try {
        return await pull();
      } finally {
        const left = (pulling.get(name) ?? 1) - 1;
        if (left > 0) pulling.set(name, left);
        else pulling.delete(name);
        for (const listener of listeners) listener();
      }
    },
    claimedAt: (imageId) => claims.get(imageId),
    keptUntil,
    async remove({ id, names }, removal) {
      const isPulled = [...pulling.keys()].some((name) => names.some((known) => mayName(name, known)));
      if (isPulled || removing.has(id) || keptUntil(id) > clock.monotonic()) return false;
      const run = removal();
      removing.set(
        id,
        run.catch(() => undefined),
      );
      try {
        await run;
        return true;
      } finally {
        removing.delete(id);
      }
    },
    onPullEnd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Whether what a pod writes may stand for the runtime's full name: registry, namespace and tag may be left out. */
function mayName(written: string, full: string): boolean {
  return [written, `${written}:latest`].some((name) => full === name || full.endsWith(`/${name}`));
}
