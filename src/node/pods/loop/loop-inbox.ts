import { podUid } from "../../../api/pods.ts";
import { createMailbox } from "../../../base/mailbox.ts";
import type { PodLifecycleEvent } from "../pleg/lifecycle-events.ts";
import type { SourceSnapshot } from "../sources/source-snapshot.ts";

/** The events of the sync loop. */
export type LoopEvent =
  | { type: "source"; snapshot: SourceSnapshot }
  | { type: "lifecycle"; event: PodLifecycleEvent }
  /** The runtime's pods were all read. */
  | { type: "relisted" }
  /** The worker of the pod ended and forgot it. */
  | { type: "gone"; uid: string }
  /** Something that the pod refers to changed: a secret, a config map. */
  | { type: "referenced"; uid: string }
  /** A probe found something that the pod's worker must act on. */
  | { type: "probed"; uid: string }
  /** The fact that the admission of the pod waited for is known. */
  | { type: "decidable"; uid: string };

/** The inbox of the sync loop. It is made first, so that those who put events into it do not need the loop itself. */
export interface LoopInbox {
  /** Takes a source's snapshot; only its newest one waits. */
  offerSnapshot(snapshot: SourceSnapshot): void;
  offerLifecycleEvent(event: PodLifecycleEvent): void;
  offerRelisted(): void;
  offerGone(uid: string): void;
  /** Coalesced: a pod waits at most once. */
  offerReferenced(uid: string): void;
  /** Coalesced: a pod waits at most once. */
  offerProbed(uid: string): void;
  /** To be called once for each time that admission was undecided. */
  offerDecidable(uid: string): void;
  /** Waits until there is an event; `take` gives it as it is by then. */
  ready(signal: AbortSignal): Promise<void>;
  take(signal: AbortSignal): Promise<LoopEvent>;
  /** Life cycle events that found the box full: their pods are looked at with the next resync of their workers. */
  readonly discarded: number;
}

const CAPACITY = 10_000;
/**
 * How many removed pods are remembered while the loop waits. The last state of an older one is lost, but not its
 * removal.
 */
const MAX_LAST_SEEN = 1_000;

type Slip = Exclude<LoopEvent, { type: "source" }> | { type: "source"; source: SourceSnapshot["source"] };

export function createLoopInbox(): LoopInbox {
  // Snapshots and ends must not be lost and are bounded by their nature, so that the bound is for life cycle events
  // only.
  const lifecycle = { waiting: 0, discarded: 0 };
  const mailbox = createMailbox<Slip>(Number.POSITIVE_INFINITY);
  const snapshots = new Map<SourceSnapshot["source"], SourceSnapshot>();
  const referenced = new Set<string>();
  const probed = new Set<string>();
  let relistWaits = false;

  const open = (slip: Slip): LoopEvent | undefined => {
    if (slip.type === "lifecycle") lifecycle.waiting--;
    if (slip.type === "relisted") relistWaits = false;
    if (slip.type === "referenced") referenced.delete(slip.uid);
    if (slip.type === "probed") probed.delete(slip.uid);
    if (slip.type !== "source") return slip;
    const snapshot = snapshots.get(slip.source);
    snapshots.delete(slip.source);
    return snapshot && { type: "source", snapshot };
  };

  return {
    offerSnapshot(snapshot) {
      const waits = snapshots.has(snapshot.source);
      snapshots.set(snapshot.source, withNewsOf(snapshots.get(snapshot.source), snapshot));
      if (!waits) mailbox.offer({ type: "source", source: snapshot.source });
    },
    offerLifecycleEvent(event) {
      if (lifecycle.waiting >= CAPACITY) {
        lifecycle.discarded++;
        return;
      }
      lifecycle.waiting++;
      mailbox.offer({ type: "lifecycle", event });
    },
    offerRelisted() {
      if (relistWaits) return;
      relistWaits = true;
      mailbox.offer({ type: "relisted" });
    },
    offerGone: (uid) => mailbox.offer({ type: "gone", uid }),
    offerReferenced(uid) {
      if (referenced.has(uid)) return;
      referenced.add(uid);
      mailbox.offer({ type: "referenced", uid });
    },
    offerProbed(uid) {
      if (probed.has(uid)) return;
      probed.add(uid);
      mailbox.offer({ type: "probed", uid });
    },
    offerDecidable: (uid) => mailbox.offer({ type: "decidable", uid }),
    ready: mailbox.ready,
    async take(signal) {
      for (;;) {
        const event = open(await mailbox.take(signal));
        if (event !== undefined) return event;
      }
    },
    get discarded() {
      return lifecycle.discarded;
    },
  };
}

/** The newest snapshot has all pods that are there, but not what happened before the snapshot that it replaces. */
function withNewsOf(waiting: SourceSnapshot | undefined, snapshot: SourceSnapshot): SourceSnapshot {
  const lastSeen = [...(waiting?.lastSeen ?? []), ...(snapshot.lastSeen ?? [])].slice(-MAX_LAST_SEEN);
  const away = new Set([...(waiting?.returned ?? []), ...(snapshot.returned ?? [])]);
  const returned = snapshot.pods.map(podUid).filter((uid) => away.has(uid));
  return {
    ...snapshot,
    ...(lastSeen.length > 0 && { lastSeen: new Map(lastSeen) }),
    ...(returned.length > 0 && { returned: new Set(returned) }),
  };
}
