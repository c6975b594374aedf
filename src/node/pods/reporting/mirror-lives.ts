import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { isStaticPod, podUid } from "../../../api/pods.ts";
import type { DesiredPods } from "../desired/desired-pods.ts";
import { manifestHash, mirroredHash } from "../mirror-pods/make-mirror-pod.ts";
import { isAnotherLife } from "../status/another-life.ts";

/**
 * Which life of a static pod its mirror shows. A static pod may end and begin anew under its UID, and the API server lets
 * no status begin anew; so a mirror that showed the earlier life is outlived, and another one takes its place.
 */
export interface MirrorLives {
  /** The static pod has ended: the mirror that it has now is outlived from here on. */
  end(pod: Pod): void;
  isOutlived(mirror: Pod): boolean;
  /** The pod's current mirror where that mirror is outlived. */
  outlivedMirrorOf(pod: Pod): Pod | undefined;
  /**
   * The object by which the API server shows the pod's current life: the pod itself, or the mirror of a static pod.
   * Undefined where the API server shows none, or a mirror of an older manifest or of an earlier life, which is about to
   * be replaced.
   */
  shownPodOf(uid: string): Pod | undefined;
  /** The object that events of the pod name: the one by which it is shown, else the pod as its source has it. */
  eventPodOf(uid: string): Pod | undefined;
  /** Forgets the outlived mirrors that the API server no longer has. */
  forgetGone(): void;
}

interface MirrorLivesDeps {
  readonly desired: Pick<DesiredPods, "byUid" | "mirrorPodOf" | "mirrorPods" | "staticPodOf">;
  readonly statuses: { get(uid: string): PodStatus | undefined };
}

export function createMirrorLives({ desired, statuses }: MirrorLivesDeps): MirrorLives {
  /** UIDs of mirrors whose static pods have ended. */
  const outlived = new Set<string>();

  const isOutlived = (mirror: Pod): boolean => {
    if (outlived.has(podUid(mirror))) return true;
    const pod = desired.staticPodOf(mirror);
    const known = pod && statuses.get(podUid(pod));
    return known !== undefined && isAnotherLife(mirror.status ?? {}, known);
  };

  const mirrorOf = (pod: Pod) => (isStaticPod(pod) ? desired.mirrorPodOf(pod) : undefined);

  const shownPodOf = (uid: string): Pod | undefined => {
    const pod = desired.byUid(uid);
    if (pod === undefined || !isStaticPod(pod)) return pod;
    const mirror = desired.mirrorPodOf(pod);
    if (mirror === undefined || mirroredHash(mirror) !== manifestHash(pod) || isOutlived(mirror)) return undefined;
    return mirror;
  };

  return {
    end(pod) {
      const mirror = mirrorOf(pod);
      if (mirror !== undefined) outlived.add(podUid(mirror));
    },
    isOutlived,
    outlivedMirrorOf(pod) {
      const mirror = mirrorOf(pod);
      return mirror !== undefined && isOutlived(mirror) ? mirror : undefined;
    },
    shownPodOf,
    eventPodOf: (uid) => shownPodOf(uid) ?? desired.byUid(uid),
    forgetGone() {
      const present = new Set(desired.mirrorPods().map(podUid));
      for (const uid of outlived) if (!present.has(uid)) outlived.delete(uid);
    },
  };
}
