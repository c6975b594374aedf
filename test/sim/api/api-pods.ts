import type { Pod } from "../../../src/api/gen/types.ts";
import { PODS } from "../../../src/api/kube-resource.ts";
import { isMirrorPod, podUid } from "../../../src/api/pods.ts";
import type { ResourceFeed } from "../../../src/control-plane/ports/resources.ts";
import type { FakeClock } from "../../../src/host/fake/fake-clock.ts";
import { gracePeriodMs } from "../pod-script.ts";
import type { WantedPods } from "../wanted-pods.ts";

/** One version of a pod in the API, and the one that it replaced. */
export interface PodVersion {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly pod: Pod;
  readonly previous: Pod | undefined;
}

/** The pods of the node as the API has them, seen from within the server: nothing is missed, nothing comes late. */
export interface ApiPods extends WantedPods {
  /** Those that are to run here, the ones that are being deleted too. */
  bound(): Pod[];
  mirrors(): Pod[];
  /** What the write that gave this revision did. */
  versionOf(revision: string | undefined): PodVersion | undefined;
}

interface Known {
  pod: Pod;
  wantedSince: number | undefined;
  unwantedSince: number | undefined;
  changedAt: number;
  grace: { least: number; most: number };
}

const KEPT_VERSIONS = 200;

export function followApiPods(
  { feed, clock }: { feed: ResourceFeed; clock: FakeClock },
  onVersion: (version: PodVersion) => void,
): ApiPods {
  const known = new Map<string, Known>();
  const present = new Map<string, Pod>();
  const versions = new Map<string, PodVersion>();

  const notePod = ({ type, pod, previous }: PodVersion) => {
    const uid = podUid(pod);
    const now = clock.monotonic();
    const before = known.get(uid);
    const spec = gracePeriodMs(pod);
    const entry = before ?? {
      pod,
      wantedSince: now,
      unwantedSince: undefined,
      changedAt: Number.NEGATIVE_INFINITY,
      grace: { least: spec, most: spec },
    };
    known.set(uid, entry);
    entry.pod = pod;
    if (previous !== undefined && imagesOf(previous) !== imagesOf(pod)) entry.changedAt = now;
    const isEnding = type === "DELETED" || pod.metadata?.deletionTimestamp !== undefined;
    if (!isEnding) return;
    const seconds = pod.metadata?.deletionGracePeriodSeconds;
    // Who is told to end at once has a second all the same.
    const asked = seconds === undefined ? spec : Math.max(1, seconds) * 1000;
    entry.grace = { least: Math.min(asked, entry.grace.least), most: Math.max(asked, entry.grace.most) };
    entry.wantedSince = undefined;
    entry.unwantedSince ??= now;
  };

  feed.follow("pods", ({ type, object, previous }) => {
    const version = { type, pod: PODS.read(object), previous: previous && PODS.read(previous) };
    const uid = podUid(version.pod);
    if (type === "DELETED") present.delete(uid);
    else present.set(uid, version.pod);
    versions.set(version.pod.metadata?.resourceVersion ?? "", version);
    const [oldest] = versions.keys();
    if (versions.size > KEPT_VERSIONS && oldest !== undefined) versions.delete(oldest);
    if (!isMirrorPod(version.pod)) notePod(version);
    onVersion(version);
  });

  return {
    bound: () => [...present.values()].filter((pod) => !isMirrorPod(pod)),
    mirrors: () => [...present.values()].filter(isMirrorPod),
    versionOf: (revision) => versions.get(revision ?? ""),
    wantedSince: (uid) => known.get(uid)?.wantedSince,
    unwantedSince: (uid) => known.get(uid)?.unwantedSince,
    uncertainAt: (uid) => known.get(uid)?.changedAt ?? Number.NEGATIVE_INFINITY,
    pod: (uid) => known.get(uid)?.pod,
    gracePeriodMs: (uid) => known.get(uid)?.grace ?? { least: 0, most: 0 },
  };
}

function imagesOf({ spec }: Pod): string {
  return JSON.stringify([...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image));
}
