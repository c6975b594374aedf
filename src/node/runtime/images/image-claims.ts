import { untilAborted } from "../../../base/abort.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";

/**
 * Keeps whoever removes images and whoever needs them out of each other's way: what a container is about to use does not
 * go between the look for it and the container's start, and what is being removed is not taken for present.
 */
export interface ImageClaims {
  /**
   * A container is about to use the image. False when it was being removed: then it has to be looked for again. Rejects
   * with AbortedError when the signal fires.
   */
  claim(imageId: string, signal: AbortSignal): Promise<boolean>;
  /** `pull` brings the image of this name, as a pod writes it; what has the name stays meanwhile. */
  duringPull<T>(name: string, pull: () => Promise<T>): Promise<T>;
  /** Milliseconds of `Clock.monotonic`; undefined for what was not claimed lately. */
  claimedAt(imageId: string): number | undefined;
  /** Until when a claim keeps the image; of the past where none does. */
  keptUntil(imageId: string): number;
  /** False, and nothing is removed, where somebody needs the image. `names`: those that the runtime knows it by. */
  remove(
    image: { readonly id: string; readonly names: readonly string[] },
    removal: () => Promise<void>,
  ): Promise<boolean>;
  /** Called whenever a pull has ended; returns how to stop that. */
  onPullEnd(listener: () => void): () => void;
}

/**
 * The container of a claim is made soon after, and then the runtime tells that the image is used. As long as an image
 * must be there by default before it is removed.
 */
const CLAIM_MS = 2 * MINUTE;

export function createImageClaims({ clock }: { readonly clock: Clock }): ImageClaims {
  /** In the order of their times. */
  const claims = new Map<string, number>();
  /** With the number of pulls. */
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
