import type { PodReference } from "../../../api/pods.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import type { Tasks } from "../../../base/tasks.ts";

/** Readings of pods that the runtime's events ask for. */
interface HintedReadings {
  /** Something happened to the pod: it is read at once or, while it is being changed, when that is over. */
  ask(pod: PodReference): void;
  /**
   * A relist found the pod changed while it is being changed: it is read when that has taken long, if nothing has read it by
   * then. What a reading under way may not show, the next relist will.
   */
  leave(pod: PodReference): void;
  /** A reading of the pod begins, for any reason: it will show what was hinted at before. Whether there was a hint. */
  begun(uid: string): boolean;
  /** A reading of the pod has ended: it may not show what was hinted at meanwhile. */
  ended(pod: PodReference): void;
  /** Gives up the readings that wait, and holds nothing any more. */
  stop(): void;
}

interface HintedReadingsDeps {
  clock: Clock;
  tasks: Tasks;
  /** Never rejects. */
  read(pod: PodReference): Promise<void>;
  /** True while the pod's worker changes the pod; the worker reads it afterwards. */
  isChanging(uid: string): boolean;
}

/**
 * How long a hint waits for a change to be over. A stop makes half a dozen events, and reading the pod after each of
 * them would be more work than the stop. The readings would be of no use either: the pod's worker is busy, and reads
 * the pod when it is done. The pod is read meanwhile only where that takes long (a slow stop, an image that is pulled).
 */
const HINT_HOLD_MS = 10_000;

/** A pod is read by one at a time; all hints that come while it is being read make one more reading. */
export function createHintedReadings(deps: HintedReadingsDeps): HintedReadings {
  /** Pods that are being read; `true`: another hint came meanwhile. */
  const reading = new Map<string, boolean>();
  /** Pods whose hints wait for a change to be over. */
  const held = new Map<string, Timer>();
  /** Those of them that only a relist has asked for. */
  const left = new Set<string>();
  let isStopped = false;

  const readUntilQuiet = async (pod: PodReference): Promise<void> => {
    do {
      reading.set(pod.uid, false);
      await deps.read(pod);
    } while (reading.get(pod.uid) === true && !isStopped);
    reading.delete(pod.uid);
  };

  const readNow = (pod: PodReference) => {
    if (reading.has(pod.uid)) reading.set(pod.uid, true);
    else deps.tasks.spawn("hint", async () => await readUntilQuiet(pod));
  };

  const hold = (pod: PodReference) => {
    if (held.has(pod.uid) || isStopped) return;
    const timer = deps.clock.setTimer(HINT_HOLD_MS, () => {
      letGo(pod.uid);
      readNow(pod);
    });
    held.set(pod.uid, timer);
  };

  const letGo = (uid: string) => {
    held.get(uid)?.cancel();
    left.delete(uid);
    return held.delete(uid);
  };

  return {
    ask(pod) {
      left.delete(pod.uid);
      if (deps.isChanging(pod.uid)) hold(pod);
      else readNow(pod);
    },
    leave(pod) {
      if (held.has(pod.uid)) return;
      hold(pod);
      left.add(pod.uid);
    },
    begun: letGo,
    ended(pod) {
      if (!held.has(pod.uid) || deps.isChanging(pod.uid)) return;
      const isLeft = left.has(pod.uid);
      letGo(pod.uid);
      if (!isLeft) readNow(pod);
    },
    stop() {
      isStopped = true;
      for (const uid of [...held.keys()]) letGo(uid);
    },
  };
}
