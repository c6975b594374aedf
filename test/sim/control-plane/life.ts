import type { Clock, Timer } from "../../../src/base/clock.ts";

/** The process is killed at its n-th write to the disk, before or after the disk has it. */
export interface DeathPoint {
  readonly write: number;
  readonly phase: "before" | "after";
}

/** One process of the control plane: once it is dead its timers never fire, and what it waits for never comes. */
export interface Life {
  readonly clock: Clock;
  readonly isDead: boolean;
  /** Does a write, in which the process may die. */
  write(effect: () => Promise<void>): Promise<void>;
  kill(): void;
}

export function createLife(
  clock: Clock,
  { deathPoint, onDeathPoint }: { deathPoint: DeathPoint | undefined; onDeathPoint(phase: string): void },
): Life {
  const timers = new Set<Timer>();
  let writes = 0;
  let isDead = false;
  return {
    clock: {
      now: clock.now,
      monotonic: clock.monotonic,
      setTimer(delayMs, fire) {
        if (isDead) return { cancel: () => undefined };
        const timer = clock.setTimer(delayMs, () => {
          timers.delete(timer);
          fire();
        });
        timers.add(timer);
        return {
          cancel() {
            timers.delete(timer);
            timer.cancel();
          },
        };
      },
    },
    get isDead() {
      return isDead;
    },
    async write(effect) {
      writes += 1;
      const isLast = writes === deathPoint?.write;
      if (isLast && deathPoint.phase === "before" && !isDead) onDeathPoint("before");
      if (isDead) return await never();
      await effect();
      if (isLast && !isDead) onDeathPoint("after");
      if (isDead) await never();
    },
    kill() {
      isDead = true;
      for (const timer of timers) timer.cancel();
      timers.clear();
    },
  };
}

async function never(): Promise<never> {
  return await new Promise<never>(() => undefined);
}
