import type { Clock, Timer } from "../../../base/clock.ts";
import type { Tasks } from "../../../base/tasks.ts";

interface HintedPod {
  uid: string;
  name: string;
  namespace: string;
}

/** The readings that the runtime's events ask for. */
interface HintedReadings<Pod extends HintedPod> {
  /** Something happened to the pod: it is read at once, or, while it is being changed, when that is over. */
  ask(pod: Pod): void;
  /** A reading of the pod begins, for whatever reason: what was asked for before is in it. */
  begun(uid: string): void;
  /** A reading of the pod has ended: what was asked for meanwhile may not be in it. */
  ended(pod: Pod): void;
  /** What waits is given up; nothing is held any more. */
  stop(): void;
}

interface HintedReadingsDeps<Pod extends HintedPod> {
  clock: Clock;
  tasks: Tasks;
  /** Never rejects. */
  read(pod: Pod): Promise<void>;
  /** Somebody changes the pod, and reads it afterwards. */
  isChanging(uid: string): boolean;
}

/**
 * A stop makes half a dozen events, and reading the pod after each of them is more work than the stop. Nobody would act on
 * what they show: the pod's worker is at work, and reads the pod when it is done. Only where that takes long (a slow stop,
 * an image that is pulled) is the pod looked at meanwhile.
 */
export const HINT_HOLD_MS = 10_000;

/** One at a time for each pod; hints that come while its pod is being read make one more. */
export function createHintedReadings<Pod extends HintedPod>(deps: HintedReadingsDeps<Pod>): HintedReadings<Pod> {
  /** Pods that a reading is at work on; `true`: another hint came meanwhile. */
  const reading = new Map<string, boolean>();
  /** Pods whose hints wait for a change to be over. */
  const held = new Map<string, Timer>();
  let isStopped = false;

  const readUntilQuiet = async (pod: Pod): Promise<void> => {
    do {
      reading.set(pod.uid, false);
      await deps.read(pod);
    } while (reading.get(pod.uid) === true && !isStopped);
    reading.delete(pod.uid);
  };

  const readNow = (pod: Pod) => {
    if (reading.has(pod.uid)) reading.set(pod.uid, true);
    else deps.tasks.spawn("hint", async () => await readUntilQuiet(pod));
  };

  const hold = (pod: Pod) => {
    if (held.has(pod.uid) || isStopped) return;
    const timer = deps.clock.setTimer(HINT_HOLD_MS, () => {
      held.delete(pod.uid);
      readNow(pod);
    });
    held.set(pod.uid, timer);
  };

  const letGo = (uid: string) => {
    held.get(uid)?.cancel();
    held.delete(uid);
  };

  return {
    ask(pod) {
      if (deps.isChanging(pod.uid)) hold(pod);
      else readNow(pod);
    },
    begun: letGo,
    ended(pod) {
      if (!held.has(pod.uid) || deps.isChanging(pod.uid)) return;
      letGo(pod.uid);
      readNow(pod);
    },
    stop() {
      isStopped = true;
      for (const uid of [...held.keys()]) letGo(uid);
    },
  };
}
