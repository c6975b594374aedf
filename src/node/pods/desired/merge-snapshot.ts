import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod, type PodSource, podFullName, podUid } from "../../../api/pods.ts";
import { CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { formatTimeNano } from "../../../base/clock.ts";
import { comparePods } from "./compare-pods.ts";
import type { PodUpdate, PodUpdateOp } from "./pod-update.ts";

export interface MergeInput {
  source: PodSource;
  /** All pods that the source wants now, in its order. */
  offered: readonly Pod[];
  /** The source's pods that were accepted before, by UID. */
  accepted: ReadonlyMap<string, Pod>;
  /** Names and UIDs that pods of other sources hold (see `claimsOf`), each with a description of the holder. */
  claims: ReadonlyMap<string, string>;
  /** Removed pods as they were at their end, by UID, where that is known. */
  lastSeen?: ReadonlyMap<string, Pod> | undefined;
  /** UIDs of pods that were removed meanwhile and are offered again. */
  returned?: ReadonlySet<string> | undefined;
  /** A description of one of the offered pods. */
  describe(pod: Pod): string;
  /** Wall clock, milliseconds. */
  now: number;
}

interface MergeResult {
  /** The source's pods that are accepted now, by UID. */
  accepted: Map<string, Pod>;
  /** A description of each of them, by UID. */
  holders: Map<string, string>;
  /** The updates in the order in which they must be handled; none is without pods. */
  updates: PodUpdate[];
  refused: RefusedPod[];
}

export interface RefusedPod {
  pod: Pod;
  /** A complete sentence. */
  message: string;
}

/**
 * A changed static pod is a removed and an added one of the same name: the removal, which frees the name, comes first.
 */
const ORDER: readonly PodUpdateOp[] = ["REMOVE", "ADD", "UPDATE", "DELETE", "RECONCILE"];
/** The node's own annotations, which it keeps when a source gives the pod anew. */
const LOCAL_ANNOTATIONS = [CONFIG_SOURCE_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SEEN_ANNOTATION];

/**
 * Compares a source's new snapshot with the pods that it gave before, as `podStorage.merge` does
 * (pkg/kubelet/config/config.go). Two pods that would take the same name or UID cannot both run: the one that was
 * accepted before stays, otherwise the first.
 */
export function mergeSnapshot(input: MergeInput): MergeResult {
  const { chosen, refused } = choosePods(input);
  const accepted = new Map<string, Pod>();
  const byOp: Record<PodUpdateOp, Pod[]> = { REMOVE: [], ADD: [], UPDATE: [], DELETE: [], RECONCILE: [] };
  for (const offered of chosen) {
    const uid = podUid(offered);
    const before = input.accepted.get(uid);
    const isBack = before !== undefined && input.returned?.has(uid) === true;
    if (isBack) byOp.REMOVE.push(before);
    const { op, pod } = mergePod(isBack ? undefined : before, offered, input);
    accepted.set(uid, pod);
    if (op !== undefined) byOp[op].push(pod);
  }
  for (const [uid, pod] of input.accepted) {
    if (accepted.has(uid)) continue;
    const last = input.lastSeen?.get(uid);
    byOp.REMOVE.push(last === undefined ? pod : mergePod(pod, last, input).pod);
  }
  const updates = ORDER.map((op) => ({ op, source: input.source, pods: byOp[op] }));
  const holders = new Map(chosen.map((pod) => [podUid(pod), input.describe(pod)]));
  return { accepted, holders, updates: updates.filter(({ pods }) => pods.length > 0), refused };
}

/**
 * The claims are kept, because pods do not change and a source of a hundred offers all of them again when one changes.
 */
const knownClaims = new WeakMap<Pod, readonly string[]>();

/**
 * The names and UIDs that only one pod may hold. A mirror pod shares its name with its static pod, so it holds none.
 */
export function claimsOf(pod: Pod): readonly string[] {
  const known = knownClaims.get(pod);
  if (known !== undefined) return known;
  const uid = `UID ${JSON.stringify(podUid(pod))}`;
  const claims = isMirrorPod(pod) ? [uid] : [`name ${JSON.stringify(podFullName(pod))}`, uid];
  knownClaims.set(pod, claims);
  return claims;
}

function choosePods(input: MergeInput): { chosen: Pod[]; refused: RefusedPod[] } {
  const claims = new Map(input.claims);
  const chosen = new Set<Pod>();
  const refused = new Map<Pod, RefusedPod>();
  const isKnown = (pod: Pod) => {
    const before = input.accepted.get(podUid(pod));
    return before !== undefined && podFullName(before) === podFullName(pod);
  };
  const known = input.offered.filter(isKnown);
  for (const pod of [...known, ...input.offered.filter((pod) => !isKnown(pod))]) {
    const clash = claimsOf(pod).find((claim) => claims.has(claim));
    if (clash !== undefined) {
      const message = `${input.describe(pod)} is refused: its ${clash} is that of ${claims.get(clash)}`;
      refused.set(pod, { pod, message });
      continue;
    }
    const holder = input.describe(pod);
    for (const claim of claimsOf(pod)) claims.set(claim, holder);
    chosen.add(pod);
  }
  return {
    chosen: input.offered.filter((pod) => chosen.has(pod)),
    refused: input.offered.flatMap((pod) => refused.get(pod) ?? []),
  };
}

/** The offered pod that an accepted one was made of: when it is offered again, nothing has changed. */
const origins = new WeakMap<Pod, Pod>();

function mergePod(
  existing: Pod | undefined,
  offered: Pod,
  input: Pick<MergeInput, "source" | "now">,
): { op: PodUpdateOp | undefined; pod: Pod } {
  if (existing !== undefined && origins.get(existing) === offered) return { op: undefined, pod: existing };
  const merged = compareAndMerge(existing, offered, input);
  origins.set(merged.pod, offered);
  return merged;
}

function compareAndMerge(
  existing: Pod | undefined,
  offered: Pod,
  { source, now }: Pick<MergeInput, "source" | "now">,
): { op: PodUpdateOp | undefined; pod: Pod } {
  const marked = withAnnotations(offered, { [CONFIG_SOURCE_ANNOTATION]: source });
  if (existing === undefined) {
    return { op: "ADD", pod: withAnnotations(marked, { [CONFIG_SEEN_ANNOTATION]: formatTimeNano(now) }) };
  }
  const difference = comparePods(existing, marked, LOCAL_ANNOTATIONS);
  if (difference === "none") return { op: undefined, pod: existing };
  const pod = withAnnotations(marked, readLocalAnnotations(existing));
  if (difference === "status") return { op: "RECONCILE", pod };
  return { op: pod.metadata?.deletionTimestamp === undefined ? "UPDATE" : "DELETE", pod };
}

function readLocalAnnotations(pod: Pod): Record<string, string> {
  const annotations: Record<string, string> = {};
  for (const name of LOCAL_ANNOTATIONS) {
    const value = pod.metadata?.annotations?.[name];
    if (value !== undefined) annotations[name] = value;
  }
  return annotations;
}

function withAnnotations(pod: Pod, annotations: Record<string, string>): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata?.annotations, ...annotations } } };
}
