import { computeBackOff } from "../../base/back-off.ts";
import { type Clock, MINUTE, SECOND, type Timer } from "../../base/clock.ts";
import type { ClusterChange } from "./filters/filter.ts";
import type { PendingCounts } from "./scheduler-metrics.ts";

/**
 * The pods that have no node yet:
 *
 *     put ──▶ active ──next──▶ taken ──park──▶ waiting ──┐
 *               ▲                │               │delay   │
 *               │                ├───delay──▶ delayed ────┤
 *               │              finish                    │ a change that may help, or its time is up
 *               └────────────────────────────────────────┘
 *
 * There is one entry a pod, so that the store's bound is this one's too.
 */
export interface SchedulingQueue {
  /** Adds a pod that is new or has changed, to be tried at once. A pod that is known in this version stays as it is. */
  put(pod: QueuedPod): void;
  remove(key: string): void;
  /** Removes a pod that need not be tried again. A pod of that name that was put again meanwhile stays. */
  finish(key: string): void;
  /** Takes the most important pod, and the oldest of equally important ones; undefined when there is none to try. */
  next(): string | undefined;
  /** Lets a pod that was turned down wait for one of these changes. */
  park(key: string, helpedBy: ReadonlySet<ClusterChange>): void;
  /** Tries the pod again after a while because something failed, be it a step on which the waiting pod depends. */
  delay(key: string): void;
  /** Tries the waiting pods that these changes may help. */
  wake(changes: readonly ClusterChange[]): void;
  /** How often the pod that was taken has been tried with this time, and since when. */
  triesOf(key: string): PodTries | undefined;
  /** How many pods there are in each state. Those that are being tried are in none. */
  counts(): PendingCounts;
  /** Cancels the timer and sets none any more. */
  stop(): void;
  readonly size: number;
}

interface PodTries {
  readonly attempts: number;
  /** By the monotonic clock, in milliseconds. */
  readonly since: number;
}

interface QueuedPod {
  readonly key: string;
  readonly priority: number;
  /** When the pod was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Changes with the fields that decide where the pod can run. */
  readonly version: string;
}

interface Entry extends QueuedPod {
  /** The order of arrival, because times are whole seconds. */
  readonly sequence: number;
  state: "active" | "taken" | "waiting" | "delayed";
  helpedBy: ReadonlySet<ClusterChange>;
  attempts: number;
  /** When it was tried first; undefined until then. */
  triedSince: number | undefined;
  attemptedAt: number;
  dueAt: number;
}

const FIRST_DELAY_MS = SECOND;
const LAST_DELAY_MS = 10 * SECOND;
/**
 * A waiting pod is tried again after this time at the latest, because not every helpful change is known
 * (`podMaxInUnschedulablePodsDuration`).
 */
const LONGEST_WAIT_MS = 5 * MINUTE;
/**
 * A change that may help has pods tried before their back-off is over, but at most a thousand a second. A pod that
 * waits alone is tried at once, and ten thousand pods do not keep the scheduler busy all the time.
 */
const EARLY_SPACING_MS = 1;
const NO_CHANGES: ReadonlySet<ClusterChange> = new Set();

/** An empty queue. It calls `onReady`, in the same turn, when a pod can be tried. */
export function createSchedulingQueue(clock: Clock, onReady: () => void): SchedulingQueue {
  const entries = new Map<string, Entry>();
  /** The active entries, in the order in which they are tried. */
  const active: Entry[] = [];
  const idle = new Set<Entry>();
  let timer: Timer | undefined;
  let firesAt = Number.POSITIVE_INFINITY;
  let sequence = 0;
  let isStopped = false;

  const activate = (entry: Entry) => {
    idle.delete(entry);
    entry.state = "active";
    active.splice(findPlace(active, entry), 0, entry);
    onReady();
  };
  const withdraw = (entry: Entry) => {
    idle.delete(entry);
    const place = entry.state === "active" ? active.indexOf(entry) : -1;
    if (place >= 0) active.splice(place, 1);
  };
  const rest = (entry: Entry, state: "waiting" | "delayed", restMs: number) => {
    entry.state = state;
    entry.attempts += 1;
    entry.attemptedAt = clock.monotonic();
    entry.dueAt = entry.attemptedAt + restMs;
    idle.add(entry);
    arm(entry.dueAt);
  };
  const arm = (dueAt: number) => {
    if (isStopped || dueAt >= firesAt) return;
    timer?.cancel();
    firesAt = dueAt;
    timer = clock.setTimer(dueAt - clock.monotonic(), activateDue);
  };
  const activateDue = () => {
    firesAt = Number.POSITIVE_INFINITY;
    const now = clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const entry of [...idle]) {
      if (entry.dueAt <= now) activate(entry);
      else next = Math.min(next, entry.dueAt);
    }
    if (next !== Number.POSITIVE_INFINITY) arm(next);
  };

  return {
    put(pod) {
      const known = entries.get(pod.key);
      if (known?.version === pod.version) return;
      if (known !== undefined) withdraw(known);
      const untried = { attempts: 0, triedSince: undefined, attemptedAt: 0, dueAt: 0 };
      const fresh = { helpedBy: NO_CHANGES, state: "active", ...untried } as const;
      const entry: Entry = { ...fresh, ...pod, sequence: known?.sequence ?? sequence++ };
      entries.set(pod.key, entry);
      activate(entry);
    },
    remove(key) {
      const entry = entries.get(key);
      if (entry !== undefined) withdraw(entry);
      entries.delete(key);
    },
    finish(key) {
      if (entries.get(key)?.state === "taken") entries.delete(key);
    },
    next() {
      const entry = active.shift();
      if (entry === undefined) return undefined;
      entry.state = "taken";
      entry.triedSince ??= clock.monotonic();
      return entry.key;
    },
    park(key, helpedBy) {
      const entry = entries.get(key);
      if (entry?.state !== "taken") return;
      entry.helpedBy = helpedBy;
      rest(entry, "waiting", LONGEST_WAIT_MS);
    },
    delay(key) {
      const entry = entries.get(key);
      if (entry === undefined || entry.state === "active") return;
      rest(entry, "delayed", backOffMs(entry.attempts + 1));
    },
    wake(changes) {
      const now = clock.monotonic();
      const spacingMs = (idle.size - 1) * EARLY_SPACING_MS;
      for (const entry of [...idle]) {
        if (entry.state !== "waiting" || !changes.some((change) => entry.helpedBy.has(change))) continue;
        const dueAt = entry.attemptedAt + Math.min(backOffMs(entry.attempts), spacingMs);
        if (dueAt >= entry.dueAt) continue;
        entry.dueAt = dueAt;
        if (dueAt <= now) activate(entry);
        else arm(dueAt);
      }
    },
    triesOf(key) {
      const entry = entries.get(key);
      return entry?.triedSince === undefined ? undefined : { attempts: entry.attempts + 1, since: entry.triedSince };
    },
    counts() {
      const waiting = [...idle].filter(({ state }) => state === "waiting").length;
      return { active: active.length, backoff: idle.size - waiting, unschedulable: waiting };
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
    get size() {
      return entries.size;
    },
  };
}

function backOffMs(attempts: number): number {
  return computeBackOff(attempts, { initialMs: FIRST_DELAY_MS, maxMs: LAST_DELAY_MS });
}

function comesBefore(a: Entry, b: Entry): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt;
  return a.sequence < b.sequence;
}

/** The index of the first entry that comes after this one. */
function findPlace(sorted: readonly Entry[], entry: Entry): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle];
    if (other !== undefined && comesBefore(other, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
