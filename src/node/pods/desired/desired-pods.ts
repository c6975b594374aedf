import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod, type PodSource, podFullName, podReference, podUid } from "../../../api/pods.ts";
import { assert } from "../../../base/assert.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { SourceSnapshot } from "../sources/source-snapshot.ts";
import { claimsOf, mergeSnapshot, type RefusedPod } from "./merge-snapshot.ts";
import type { PodUpdate } from "./pod-update.ts";

/** The pods that the sources want on this node, merged. There is one writer, `apply`. */
export interface DesiredPods {
  /**
   * Takes a source's new snapshot and says what changed, in the order in which it must be handled. The updates may be
   * of another source as well, where a pod was refused because of a name that is free now.
   */
  apply(snapshot: SourceSnapshot): PodUpdate[];
  /** Sources that have been read at least once. */
  seenSources(): PodSource[];
  /** Every source was read: a pod that is not desired now is not wanted, and may be cleaned up. */
  allReady(): boolean;
  /** All but mirror pods. */
  pods(): Pod[];
  /** Finds no mirror pods. */
  byUid(uid: string): Pod | undefined;
  /** Finds a pod by `name_namespace`, but no mirror pods. */
  byFullName(fullName: string): Pod | undefined;
  mirrorPods(): Pod[];
  /** The API server's copy of a static pod. */
  mirrorPodOf(staticPod: Pod): Pod | undefined;
  /** The static pod that a mirror pod shows. */
  staticPodOf(mirrorPod: Pod): Pod | undefined;
  /** The UID under which the node knows a pod: that of the static pod for a mirror pod, otherwise the same. */
  resolveUid(uid: string): string;
}

interface DesiredPodsDeps {
  clock: Pick<Clock, "now">;
  log: Log;
  timeline: Pick<Timeline, "record">;
}

interface SourceState {
  isSeen: boolean;
  /** A description of each accepted pod, by UID. */
  holders: Map<string, string>;
  snapshot: SourceSnapshot;
  accepted: Map<string, Pod>;
  refused: RefusedPod[];
}

/** `sources`: the sources that will be applied; all of them must be seen before everything is ready. */
export function createDesiredPods(deps: DesiredPodsDeps, options: { sources: readonly PodSource[] }): DesiredPods {
  const states = new Map(options.sources.map((source) => [source, emptyState(source)]));
  let index = indexPods([]);

  const merge = (state: SourceState, isNews = false): PodUpdate[] => {
    const { source, pods, lastSeen, returned } = state.snapshot;
    const others = [...states.values()].filter((other) => other !== state);
    const result = mergeSnapshot({
      source,
      offered: pods,
      accepted: state.accepted,
      claims: new Map(others.flatMap(listClaims)),
      lastSeen,
      returned: isNews ? returned : undefined,
      describe: (pod) => describe(pod, state.snapshot),
      now: deps.clock.now(),
    });
    reportRefusals(deps, state.refused, result.refused);
    state.accepted = result.accepted;
    state.holders = result.holders;
    state.refused = result.refused;
    return result.updates;
  };

  return {
    apply(snapshot) {
      const state = states.get(snapshot.source);
      assert(state !== undefined, "a snapshot comes from a source that was announced");
      const isFirst = !state.isSeen;
      Object.assign(state, { snapshot, isSeen: state.isSeen || snapshot.isPartial !== true });
      const updates = merge(state, true);
      if (isFirst && !updates.some(({ op }) => op === "ADD"))
        updates.push({ op: "ADD", source: snapshot.source, pods: [] });
      for (const other of states.values()) {
        if (other !== state && other.refused.length > 0) updates.push(...merge(other));
      }
      index = indexPods([...states.values()].flatMap(({ accepted }) => [...accepted.values()]));
      return updates;
    },
    seenSources: () => [...states.values()].filter(({ isSeen }) => isSeen).map(({ snapshot }) => snapshot.source),
    allReady: () => [...states.values()].every(({ isSeen }) => isSeen),
    pods: () => [...index.byUid.values()],
    byUid: (uid) => index.byUid.get(uid),
    byFullName: (fullName) => index.byFullName.get(fullName),
    mirrorPods: () => [...index.mirrorByUid.values()],
    mirrorPodOf: (staticPod) => index.mirrorByFullName.get(podFullName(staticPod)),
    staticPodOf: (mirrorPod) => index.byFullName.get(podFullName(mirrorPod)),
    resolveUid(uid) {
      const mirror = index.mirrorByUid.get(uid);
      const shown = mirror && index.byFullName.get(podFullName(mirror));
      return shown === undefined ? uid : podUid(shown);
    },
  };
}

function emptyState(source: PodSource): SourceState {
  return { isSeen: false, snapshot: { source, pods: [] }, accepted: new Map(), holders: new Map(), refused: [] };
}

/** The indexes of the pods, which do not change between two snapshots. */
function indexPods(all: readonly Pod[]) {
  const mirrors = all.filter(isMirrorPod);
  const pods = all.filter((pod) => !isMirrorPod(pod));
  return {
    byUid: new Map(pods.map((pod) => [podUid(pod), pod])),
    byFullName: new Map(pods.map((pod) => [podFullName(pod), pod])),
    mirrorByUid: new Map(mirrors.map((pod) => [podUid(pod), pod])),
    mirrorByFullName: new Map(mirrors.map((pod) => [podFullName(pod), pod])),
  };
}

function listClaims({ accepted, holders }: SourceState): Array<[claim: string, holder: string]> {
  return [...accepted].flatMap(([uid, pod]) => {
    const holder = holders.get(uid) ?? podFullName(pod);
    return claimsOf(pod).map((claim): [string, string] => [claim, holder]);
  });
}

/** `pod web-node-1_default (file, /etc/kubernetes/manifests/web.yaml, document 2)`. */
function describe(pod: Pod, { source, origins }: SourceSnapshot): string {
  const origin = origins?.get(pod);
  return `pod ${podFullName(pod)} (${origin === undefined ? source : `${source}, ${origin}`})`;
}

/** Reports each refusal once, and not at every snapshot that repeats it. */
function reportRefusals({ log, timeline }: DesiredPodsDeps, before: readonly RefusedPod[], now: readonly RefusedPod[]) {
  const known = new Set(before.map(({ message }) => message));
  for (const { pod, message } of now) {
    if (known.has(message)) continue;
    const reference = podReference(pod);
    log.error("Refused pod", { pod: podFullName(pod), uid: reference.uid, error: message });
    timeline.record(reference, { type: "Warning", reason: "FailedValidation", message });
  }
}
