import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { createMailbox } from "../../../base/mailbox.ts";

/** Why a pod cannot have what it asks for: reason and message of its Failed status. */
export interface AllocationRefusal {
  readonly reason: string;
  readonly message: string;
}

/**
 * Gives pods the parts of the machine that are theirs alone, one pod after the other, before they are let in. That may
 * take a plugin's answer and a write to the disk, for which nobody else waits.
 */
export interface PodAllocation {
  /** Undefined: the pod has what it asks for. `undecided`: `onDecidable` follows. */
  admit(pod: Pod): AllocationRefusal | "undecided" | undefined;
  /** There is a verdict on the pod. One that is not admitted gives back what it got. */
  settle(podUid: string, verdict: "admitted" | "refused"): void;
  /** The pod is wanted no longer. */
  forget(podUid: string): void;
  /** Takes back what pods have that have ended. */
  releaseStale(): void;
  run(signal: AbortSignal): Promise<void>;
}

interface PodAllocationDeps {
  /** Whether the pod asks for anything that is given here. */
  concerns(pod: Pod): boolean;
  /** Something of the pod runs: it has what it needs from the node agent before this one. */
  isRunning(podUid: string): boolean;
  /** The pods that were let in and have not ended; undefined while not all sources of pods are known. */
  activePods(): readonly string[] | undefined;
  /** The pods that are wanted no longer and have not ended, which is what a deletion by force leaves. */
  leavingPods(): readonly Pod[];
  /** `onDecidable` is to follow when one of those has ended. */
  awaitDeparture(podUid: string): void;
  /** Gives the pod what it asks for. */
  allocate(pod: Pod, signal: AbortSignal): Promise<AllocationRefusal | undefined>;
  /** Takes back what pods have that are neither active nor wait for their verdict. */
  releaseOthers(keep: ReadonlySet<string>): void;
  release(podUid: string): void;
  onDecidable(podUid: string): void;
}

export function createPodAllocation(deps: PodAllocationDeps): PodAllocation {
  /** The pods in line, and those whose allocation is known. */
  const waiting = new Map<string, Pod>();
  const known = new Map<string, AllocationRefusal | undefined>();
  /** The pods that run since an agent before this one, and on which there is no verdict yet. */
  const running = new Set<string>();
  const bell = createMailbox<"waiting">(1);

  const releaseStale = () => {
    const active = deps.activePods();
    if (active !== undefined) deps.releaseOthers(new Set([...active, ...waiting.keys(), ...known.keys(), ...running]));
  };

  /** What such a pod has comes back soon, and nobody is refused for want of it. */
  const isHeldByLeaving = () => deps.leavingPods().some(deps.concerns);

  const allocateNext = async (uid: string, pod: Pod, signal: AbortSignal) => {
    releaseStale();
    const didOthersHold = isHeldByLeaving();
    const refusal = await deps.allocate(pod, signal);
    if (waiting.get(uid) !== pod) {
      // The pod went meanwhile, or another of its name stands in line.
      if (!waiting.has(uid)) deps.release(uid);
      return;
    }
    waiting.delete(uid);
    if (refusal !== undefined && didOthersHold) {
      deps.release(uid);
      if (isHeldByLeaving()) return deps.awaitDeparture(uid);
    } else {
      known.set(uid, refusal);
    }
    deps.onDecidable(uid);
  };

  const forget = (uid: string) => {
    const isOpen = waiting.delete(uid) || known.has(uid);
    known.delete(uid);
    running.delete(uid);
    if (isOpen) deps.release(uid);
  };

  return {
    admit(pod) {
      const uid = podUid(pod);
      if (known.has(uid)) return known.get(uid);
      if (!waiting.has(uid)) {
        if (!deps.concerns(pod)) return undefined;
        if (deps.isRunning(uid)) {
          running.add(uid);
          return undefined;
        }
      }
      waiting.set(uid, pod);
      bell.offer("waiting");
      return "undecided";
    },
    settle(uid, verdict) {
      running.delete(uid);
      if (verdict === "refused") forget(uid);
      else known.delete(uid);
    },
    forget,
    releaseStale,
    async run(signal) {
      for (;;) {
        await bell.take(signal);
        for (let next = firstOf(waiting); next !== undefined; next = firstOf(waiting)) {
          await allocateNext(...next, signal);
          signal.throwIfAborted();
        }
      }
    },
  };
}

function firstOf<Key, Value>(map: ReadonlyMap<Key, Value>): [Key, Value] | undefined {
  const [first] = map;
  return first;
}
