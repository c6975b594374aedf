import { childController, isAbort } from "../../../src/base/abort.ts";
import type { Clock, Timer } from "../../../src/base/clock.ts";
import { KubeUnreachableError, type WatchEvent } from "../../../src/kube/port.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import { type ApiFaults, INJECTED } from "./api-faults.ts";

/** What a watch's connection goes through. */
export interface WatchTrouble {
  clock: Clock;
  dice: Dice;
  faults: Faults;
  api: Pick<ApiFaults, "rates" | "isSilent" | "breaking">;
}

type OnEvent<T> = (event: WatchEvent<T>) => void;

/**
 * Runs a watch over a bad connection: its events come late, and then together, some of them twice; it breaks between two
 * of them, or falls silent. Their order stays, as no server changes it.
 */
export async function watchDisturbed<T>(
  trouble: WatchTrouble,
  { signal, onEvent }: { signal: AbortSignal | undefined; onEvent: OnEvent<T> },
  watch: (signal: AbortSignal, onEvent: OnEvent<T>) => Promise<void>,
): Promise<void> {
  const { controller, release } = childController(trouble.api.breaking());
  const leave = () => controller.abort();
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted) leave();
  let thrown: { error: unknown } | undefined;
  const events = createLateEvents(trouble, onEvent, (error) => {
    thrown ??= { error };
    controller.abort();
  });
  try {
    await watch(controller.signal, events.offer);
    events.deliver();
  } catch (error) {
    if (thrown === undefined && isAbort(error) && signal?.aborted !== true) throw broken();
    if (thrown === undefined) throw error;
  } finally {
    events.drop();
    signal?.removeEventListener("abort", leave);
    release();
  }
  if (thrown !== undefined) throw thrown.error;
}

function broken(): KubeUnreachableError {
  return new KubeUnreachableError("unreachable", `the connection broke: ${INJECTED}`);
}

function createLateEvents<T>(trouble: WatchTrouble, onEvent: OnEvent<T>, end: (error: unknown) => void) {
  const { clock, dice, faults, api } = trouble;
  const roll = (rate: number) => rate > 0 && dice.chance(rate);
  let waiting: Array<WatchEvent<T>> = [];
  let timer: Timer | undefined;
  let isOver = false;

  const hand = (event: WatchEvent<T>) => {
    if (isOver) return;
    if (roll(api.rates.watchDropped)) {
      faults.count("api watch drop");
      isOver = true;
      end(broken());
      return;
    }
    try {
      onEvent(event);
      if (!roll(api.rates.eventDoubled)) return;
      faults.count("api event doubled");
      onEvent(event);
    } catch (error) {
      isOver = true;
      end(error);
    }
  };
  const deliver = () => {
    timer?.cancel();
    timer = undefined;
    const due = waiting;
    waiting = [];
    for (const event of due) hand(event);
  };

  return {
    offer(event: WatchEvent<T>) {
      if (api.isSilent) return;
      const isLate = timer === undefined && roll(api.rates.eventLate);
      if (isLate) {
        faults.count("api event late");
        timer = clock.setTimer(dice.between(5, 5_000), deliver);
      }
      if (timer === undefined) hand(event);
      else waiting.push(event);
    },
    deliver,
    drop() {
      isOver = true;
      waiting = [];
      timer?.cancel();
      timer = undefined;
    },
  };
}
