import type { Clock } from "../../../../src/base/clock.ts";
import type { Dice } from "../../dice.ts";
import type { Ledger } from "../ledger.ts";
import { createDirectories, type Directories } from "./directories.ts";
import { createUsage, type Usage } from "./usage.ts";

/** What a cluster has beside plain workloads: volumes, usage that autoscalers go by, and owners of each other. */
export interface Estate {
  readonly dice: Dice;
  /** Those of the tokens with which machines join. */
  readonly tokenDice: Dice;
  readonly directories: Directories;
  readonly usage: Usage;
}

interface EstateDeps {
  clock: Clock;
  dice: Dice;
  tokenDice: Dice;
  ledger: Ledger;
  count(kind: string): void;
  fail(invariant: string, message: string): void;
}

export function createEstate(deps: EstateDeps): Estate {
  return {
    dice: deps.dice,
    tokenDice: deps.tokenDice,
    directories: createDirectories(deps),
    usage: createUsage(deps),
  };
}
