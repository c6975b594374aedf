import type { Pod } from "../../../api/gen/types.ts";
import type { PodSource } from "../../../api/pods.ts";

/** Everything that one source wants to run: the whole truth of it, which replaces what it said before. */
export interface SourceSnapshot {
  source: PodSource;
  /** In the source's order: of two pods that cannot both run, the earlier counts. Defaulted and valid. */
  pods: Pod[];
  /** Where each pod stands, for messages: `/etc/kubernetes/manifests/web.yaml, document 2`. */
  origins?: ReadonlyMap<Pod, string>;
  /**
   * Something of the source could never be read since the start, so that a pod that is not in here may be wanted all the
   * same. Until a snapshot without this, what runs is not cleaned up.
   */
  isPartial?: boolean;
  /**
   * Pods that went since the last snapshot, by UID, as they were at their end: one that was deleted by force was marked
   * with its grace period only then. Absent where nobody was there to see it.
   */
  lastSeen?: ReadonlyMap<string, Pod>;
}

/** A pod and where it stands. */
export interface SourcePod {
  pod: Pod;
  origin: string;
}

/** A source of pods. */
export interface PodSourceLoop {
  /** Reads and watches until the signal fires; returns only when nothing of it is left. */
  run(signal: AbortSignal): Promise<void>;
}

/** Gets the first snapshot as soon as the source was read, then one whenever the source's pods changed. */
export type SnapshotListener = (snapshot: SourceSnapshot) => void;

/**
 * Hands on the snapshots that differ from the last. Returns what to call with the pods of each reading; it says whether
 * they differed.
 */
export function createSnapshotEmitter(
  source: "file" | "http",
  emit: SnapshotListener,
): (pods: readonly SourcePod[], isPartial?: boolean) => boolean {
  let last: readonly SourcePod[] | undefined;
  let wasPartial = false;
  return (pods, isPartial = false) => {
    const hasSamePods = last?.length === pods.length && pods.every(({ pod }, index) => pod === last?.[index]?.pod);
    const isSame = hasSamePods && isPartial === wasPartial;
    last = pods;
    wasPartial = isPartial;
    if (isSame) return false;
    const origins = new Map(pods.map(({ pod, origin }) => [pod, origin]));
    emit({ source, pods: pods.map(({ pod }) => pod), origins, ...(isPartial && { isPartial }) });
    return true;
  };
}
