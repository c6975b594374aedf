import type { FakeLogind } from "../../src/host/fake/fake-logind.ts";
import type { Dice } from "./dice.ts";

/** How long pods get when the machine goes down, in milliseconds; no pod of the simulator is more important than others. */
export const SHUTDOWN_PERIOD_MS = 20_000;
/** The part of the grace period that critical pods have. */
export const CRITICAL_PERIOD_MS = 5_000;

/** The machine goes down at the end of the run. */
export interface MachineShutdown {
  readonly dice: Dice;
  /** From here on pods are ended that nobody asked to end. */
  readonly hasBegun: boolean;
  begin(): void;
}

export function createMachineShutdown(logind: FakeLogind, dice: Dice): MachineShutdown {
  let hasBegun = false;
  logind.fail(undefined);
  if (dice.chance(0.5)) logind.inhibitDelayMs = SHUTDOWN_PERIOD_MS + CRITICAL_PERIOD_MS;
  logind.onReload = () => {
    logind.inhibitDelayMs = SHUTDOWN_PERIOD_MS + CRITICAL_PERIOD_MS;
  };
  return {
    dice,
    get hasBegun() {
      return hasBegun;
    },
    begin() {
      hasBegun = true;
    },
  };
}
