import { CodedError } from "../base/errors.ts";

/**
 * systemd-logind, which knows that the machine is about to go down and waits a while for programs that asked it to.
 * Every call rejects with a `LogindError` where there is no logind, and with `AbortedError` when the signal fires.
 */
export interface Logind {
  /** How long logind waits for all delays together (`InhibitDelayMaxUSec`), in milliseconds. */
  readInhibitDelayMs(signal: AbortSignal): Promise<number>;
  /** Tells whether a shutdown has been announced and waits. */
  isPreparingForShutdown(signal: AbortSignal): Promise<boolean>;
  /** Asks logind to read its configuration again. Returns before logind has done so. */
  reloadConfiguration(signal: AbortSignal): Promise<void>;
  /** Makes shutdowns wait from here on, until the delay is released, this process has ended or the limit is over. */
  delayShutdown(why: string, signal: AbortSignal): Promise<ShutdownDelay>;
  /**
   * Calls `onWatching` once no announcement is missed any more. Calls `onShutdown` with true when a shutdown is
   * announced, and with false when it was called off. Rejects when the bus is lost.
   */
  watchShutdowns(listener: ShutdownListener, signal: AbortSignal): Promise<never>;
}

/** A delay that holds a shutdown up. */
export interface ShutdownDelay {
  /** Never rejects; may be called again. */
  release(): Promise<void>;
}

/** The listener for shutdowns. */
export interface ShutdownListener {
  onWatching(): void;
  onShutdown(isAnnounced: boolean): void;
}

/** `missing`: the programs that speak to logind are not installed. `failed`: logind was asked and did not do it. */
export class LogindError extends CodedError<"missing" | "failed"> {
  override readonly name = "LogindError";
}
