import { CodedError } from "../base/errors.ts";

/**
 * systemd, the service manager, which owns the cgroups of a machine that it runs. Every call ends within half a minute.
 * It rejects with a `SystemdError` where there is no systemd, or where systemd does not do what it was asked.
 */
export interface Systemd {
  /** The release of systemd: 252. */
  readVersion(): Promise<number>;
  isActive(unit: string): Promise<boolean>;
  /**
   * Makes a unit that is gone with the next boot. Resolves when its start has begun. Fails if the unit exists already.
   */
  startTransientUnit(unit: string, properties: readonly UnitProperty[]): Promise<void>;
  /** Starts a unit that is loaded. Resolves when the start has begun. */
  startUnit(unit: string): Promise<void>;
  /** Sets properties of a unit until the next boot. */
  setUnitProperties(unit: string, properties: readonly UnitProperty[]): Promise<void>;
  /** Resolves when the stop has begun. The call is also allowed for a unit that does not run. */
  stopUnit(unit: string): Promise<void>;
  /** Makes systemd forget a unit that failed. */
  resetFailedUnit(unit: string): Promise<void>;
}

/** A property as the bus types it: a string, strings, a truth value, or an unsigned number of 64 bits. */
export type UnitProperty =
  | { readonly name: string; readonly signature: "s"; readonly value: string }
  | { readonly name: string; readonly signature: "as"; readonly value: readonly string[] }
  | { readonly name: string; readonly signature: "b"; readonly value: boolean }
  | { readonly name: string; readonly signature: "t"; readonly value: bigint };

/** `missing`: the program that speaks to systemd is not installed. `failed`: systemd was asked and did not do it. */
export class SystemdError extends CodedError<"missing" | "failed"> {
  override readonly name = "SystemdError";
}
