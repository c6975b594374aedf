import type { Pod } from "../../../api/gen/types.ts";
import { type PodSource, podUid } from "../../../api/pods.ts";

/** All pods that one source wants to run; a snapshot replaces the one before it. */
export interface SourceSnapshot {
  source: PodSource;
  /** Defaulted and valid pods in the source's order: of two that cannot both run, the earlier counts. */
  pods: Pod[];
  /** Where each pod stands, for messages: `/etc/kubernetes/manifests/web.yaml, document 2`. */
  origins?: ReadonlyMap<Pod, string>;
  /**
   * A part of the source could never be read since the start, so that a pod that is not in here may be wanted all the
   * same. Running pods are not cleaned up until a snapshot comes without this.
   */
  isPartial?: boolean;
  /**
   * Pods that were removed since the last snapshot, by UID, as they were at their end: a pod that was deleted by force
   * was marked with its grace period only then. Absent where the removal was not seen.
   */
  lastSeen?: ReadonlyMap<string, Pod>;
  /** UIDs of pods that were away since the last snapshot and are back: their containers end and begin anew. */
  returned?: ReadonlySet<string>;
}

/** A pod and where it stands. */
export interface SourcePod {
  pod: Pod;
  origin: string;
  /** Its manifest was away since the last reading and is back. */
  isReturned?: true;
}

/** A source of pods. */
export interface PodSourceLoop {
  /** Reads and watches until the signal fires; returns only when nothing of it is left. */
  run(signal: AbortSignal): Promise<void>;
}

/** Receives the first snapshot as soon as the source was read, then one whenever the source's pods changed. */
export type SnapshotListener = (snapshot: SourceSnapshot) => void;

/**
 * Hands on the snapshots that differ from the last. The function that it returns is to be called with the pods of each
 * reading; it returns whether they differed.
 */
export function createSnapshotEmitter(
  source: "file" | "http",
  emit: SnapshotListener,
): (pods: readonly SourcePod[], isPartial?: boolean) => boolean {
  let last: readonly SourcePod[] | undefined;
  let wasPartial = false;
  return (pods, isPartial = false) => {
    const hasSamePods = last?.length === pods.length && pods.every(({ pod }, index) => pod === last?.[index]?.pod);
    const returned = new Set(pods.flatMap(({ pod, isReturned }) => (isReturned ? [podUid(pod)] : [])));
    const isSame = hasSamePods && isPartial === wasPartial && returned.size === 0;
    last = pods;
    wasPartial = isPartial;
    if (isSame) return false;
    const origins = new Map(pods.map(({ pod, origin }) => [pod, origin]));
    const news = { ...(isPartial && { isPartial }), ...(returned.size > 0 && { returned }) };
    emit({ source, pods: pods.map(({ pod }) => pod), origins, ...news });
    return true;
  };
}
