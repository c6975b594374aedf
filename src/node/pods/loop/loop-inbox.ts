import { createMailbox } from "../../../base/mailbox.ts";
import type { PodLifecycleEvent } from "../pleg/lifecycle-events.ts";
import type { SourceSnapshot } from "../sources/source-snapshot.ts";

/** What can happen to the sync loop. */
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
  /** What the admission of the pod waited for is known. */
  | { type: "decidable"; uid: string };

/** Where everybody puts what the loop must hear; made first, so that nobody needs the loop itself. */
export interface LoopInbox {
  /** A source's whole truth; only its newest snapshot waits. */
  offerSnapshot(snapshot: SourceSnapshot): void;
  offerLifecycleEvent(event: PodLifecycleEvent): void;
  offerRelisted(): void;
  offerGone(uid: string): void;
  /** Coalesced: a pod waits at most once. */
  offerReferenced(uid: string): void;
  /** Coalesced: a pod waits at most once. */
  offerProbed(uid: string): void;
  /** Once for each time that admission did not know. */
  offerDecidable(uid: string): void;
  /** Waits until something has happened; what it is, `take` says, as it is then. */
  ready(signal: AbortSignal): Promise<void>;
  take(signal: AbortSignal): Promise<LoopEvent>;
  /** Life cycle events that found the box full: their pods are looked at with the next resync of their workers. */
  readonly discarded: number;
}

const CAPACITY = 10_000;
/** Of pods that went while the loop waits; of an older one it is only not known any more how it went. */
const MAX_LAST_SEEN = 1_000;

type Slip = Exclude<LoopEvent, { type: "source" }> | { type: "source"; source: SourceSnapshot["source"] };

export function createLoopInbox(): LoopInbox {
  // Snapshots and ends must not be lost and are bounded by themselves, so that only life cycle events meet the bound.
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
      snapshots.set(snapshot.source, withLastSeenOf(snapshots.get(snapshot.source), snapshot));
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
    offerGone: (uid) => void mailbox.offer({ type: "gone", uid }),
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
    offerDecidable: (uid) => void mailbox.offer({ type: "decidable", uid }),
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

/** The newest is the truth about who is there; who went before it, it does not tell. */
function withLastSeenOf(waiting: SourceSnapshot | undefined, snapshot: SourceSnapshot): SourceSnapshot {
  const before = waiting?.lastSeen;
  if (before === undefined) return snapshot;
  const all = [...before, ...(snapshot.lastSeen ?? [])];
  return { ...snapshot, lastSeen: new Map(all.slice(-MAX_LAST_SEEN)) };
}
