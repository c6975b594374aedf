import { type Clock, SECOND } from "../../../base/clock.ts";

/**
 * The pods whose sandbox is ready while their containers are still being started, for which images may be pulled and hooks
 * run. The cache shows the sandbox only when the start is over.
 */
export interface ReadySandboxes {
  has(uid: string): boolean;
  /** A start has got its sandbox. `tell` is called if the start goes on for a second: most end sooner, and tell it then. */
  add(uid: string, tell: () => void): void;
  /** The start is over and the pod was read again. */
  forget(uid: string): void;
}

const PATIENCE_MS = SECOND;

export function createReadySandboxes({ setTimer }: Pick<Clock, "setTimer">): ReadySandboxes {
  const timers = new Map<string, { cancel(): void }>();
  const forget = (uid: string) => {
    timers.get(uid)?.cancel();
    timers.delete(uid);
  };
  return {
    has: (uid) => timers.has(uid),
    add(uid, tell) {
      forget(uid);
      timers.set(uid, setTimer(PATIENCE_MS, tell));
    },
    forget,
  };
}
