import { isAbort } from "../../../../base/abort.ts";
import { createBackOff } from "../../../../base/back-off.ts";
import { type Clock, MINUTE } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeOperationError } from "../volume-error.ts";
import { type ClaimedGrowth, type ExpandClaimDeps, expandClaim } from "./expand-claim.ts";

/** Lets local volumes grow to the size that their persistent volume says. */
interface LocalGrowth {
  /**
   * Called at every sync of a pod that has the volume, and does little where nothing changed. Rejects for a pod that does
   * not run yet. The failure for one that runs is an event, and is tried again later.
   */
  ensureGrown(volume: GrowingVolume): Promise<void>;
  /** No pod has the volume any more. */
  forget(name: string): void;
}

interface GrowingVolume extends Omit<ClaimedGrowth, "nodeName" | "knownSize"> {
  readonly isInUse: boolean;
  readonly kind: "files" | "device";
  /** Makes the file system as large as its disk, if the volume is one. */
  grow(timeoutMs: number): Promise<void>;
}

/** The wait between two attempts to expand a volume that a pod uses; upstream's numbers. */
const RETRY = { initialMs: 500, maxMs: 122_000 };
/** A large file system takes a while. */
const GROWTH_TIMEOUT_MS = 10 * MINUTE;

export function createLocalGrowth(
  deps: ExpandClaimDeps & { readonly clock: Clock },
  { nodeName }: { nodeName: string },
): LocalGrowth {
  const { clock, onEvent } = deps;
  const backOff = createBackOff(RETRY);
  /** The sizes that need no further work, and when a failed attempt may be repeated, by the volumes' names. */
  const known = new Map<string, { size: string | undefined; retryAfter: number }>();

  const expand = async (volume: GrowingVolume): Promise<void> => {
    const { name } = volume;
    const knownSize = known.get(name)?.size;
    const size = await expandClaim(
      deps,
      { ...volume, nodeName, knownSize },
      {
        canExpand: true,
        expand: async () => await volume.grow(GROWTH_TIMEOUT_MS),
        judge: () => "final",
      },
    );
    backOff.reset(name);
    known.set(name, { size, retryAfter: 0 });
  };

  return {
    async ensureGrown(volume) {
      const { name, pod, claimed, isInUse, kind } = volume;
      const last = known.get(name);
      const now = clock.monotonic();
      const wanted = claimed.persistentVolume.spec?.capacity?.["storage"];
      if (wanted === undefined || wanted === last?.size) return;
      if (isInUse && last !== undefined && now < last.retryAfter) return;
      try {
        await expand(volume);
      } catch (error) {
        if (isAbort(error)) throw error;
        if (!isInUse) {
          const step = kind === "device" ? "MapVolume.MarkVolumeAsMounted" : "MountVolume.Setup";
          const message = `${step} failed while expanding volume for volume "${name}" : ${messageOf(error)}`;
          throw new VolumeOperationError(message, { cause: error });
        }
        known.set(name, { size: last?.size, retryAfter: now + backOff.next(name, now, now) });
        const message = `NodeExpandVolume.NodeExpandVolume failed for volume "${name}" : ${messageOf(error)}`;
        onEvent(pod, { type: "Warning", reason: "VolumeResizeFailed", message });
      }
    },
    forget(name) {
      known.delete(name);
      backOff.reset(name);
    },
  };
}
