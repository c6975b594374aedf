import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";

/**
 * The decisions about each pod and their reasons, oldest first. Events, `nodelet status` and later `explain` read from
 * it, so a decision is recorded once, where it is made. It is bounded both ways: a pod's oldest records go first, and
 * so do the records of the pod that was quiet longest.
 */
export interface Timeline {
  record(pod: Subject, decision: Decision): void;
  /** Oldest first; empty for an unknown pod. */
  read(uid: string): readonly TimelineRecord[];
  /** The records of all pods of this name, oldest first. */
  readNamed(name: Omit<Subject, "uid">): readonly TimelineRecord[];
  /** The listener is called after each record, in order. The returned function stops that. */
  subscribe(listener: (record: TimelineRecord) => void): () => void;
}

/** The names of the pod that a decision is about. */
interface Subject {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

export interface Decision {
  type: "Normal" | "Warning";
  /**
   * Upstream's event reason where there is one (`Pulled`, `Started`, `BackOff`, …), else a CamelCase noun of our own.
   */
  reason: string;
  message: string;
  container?: string;
  /** The annotations of the event that reports the decision. */
  annotations?: Readonly<Record<string, string>>;
  /** How long what it tells of took, in milliseconds of a clock that does not jump. */
  tookMs?: number;
  /** What led to it, the nearest first: each is the cause of the one before it. */
  causes?: readonly Cause[];
  /** True: it tells how far something is, and takes the place of what its container's last decision of this reason told. */
  isProgress?: boolean;
}

/** What led to a decision: another decision, a state of the node, or a reading. */
export interface Cause {
  /** A CamelCase noun, as of decisions. */
  reason: string;
  message: string;
  /** When it was, or since when it has lasted; milliseconds since the epoch. */
  at: number;
}

export interface TimelineRecord extends Decision {
  pod: Subject;
  /**
   * `at` is the time of the last occurrence and `firstAt` that of the first, where the same decision was repeated. Both
   * are in milliseconds since the epoch. Progress is the same decision whatever it tells, and need not be in a row.
   */
  at: number;
  firstAt: number;
  /** The number of times that the same decision was made in a row. */
  count: number;
}

const MAX_RECORDS_PER_POD = 64;
const MAX_PODS = 1_000;

export function createTimeline(clock: Clock): Timeline {
  const byPod = new LRUCache<string, TimelineRecord[]>({ max: MAX_PODS });
  const listeners = new Set<(record: TimelineRecord) => void>();

  const recordsOf = (uid: string): TimelineRecord[] => {
    const records = byPod.get(uid) ?? [];
    byPod.set(uid, records);
    return records;
  };

  return {
    record(pod, decision) {
      const records = recordsOf(pod.uid);
      const at = clock.now();
      const index = decision.isProgress
        ? records.findLastIndex((earlier) => isSameProgress(earlier, decision))
        : records.findLastIndex((earlier, place) => place === records.length - 1 && isSameDecision(earlier, decision));
      const [repeated] = index < 0 ? [] : records.splice(index, 1);
      const record: TimelineRecord =
        repeated === undefined
          ? { ...decision, pod: { uid: pod.uid, name: pod.name, namespace: pod.namespace }, at, firstAt: at, count: 1 }
          : { ...repeated, ...decision, at, count: repeated.count + 1 };
      records.push(record);
      if (records.length > MAX_RECORDS_PER_POD) records.shift();
      for (const listener of listeners) listener(record);
    },
    // Reading about a pod does not make it less quiet.
    read: (uid) => byPod.peek(uid) ?? [],
    readNamed({ namespace, name }) {
      const isNamed = ({ pod }: TimelineRecord) => pod.namespace === namespace && pod.name === name;
      const named = [...byPod.values()].flatMap((records) => (records.some(isNamed) ? records : []));
      return named.toSorted((a, b) => a.at - b.at);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function isSameProgress(a: Decision, b: Decision): boolean {
  return a.isProgress === true && a.reason === b.reason && a.container === b.container;
}

function isSameDecision(a: Decision, b: Decision): boolean {
  return a.reason === b.reason && a.message === b.message && a.container === b.container && a.type === b.type;
}
