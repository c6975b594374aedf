import { CodedError } from "../base/errors.ts";

/**
 * systemd-logind, who knows that the machine is about to go down and waits a while for those that asked it to. Every call
 * rejects with a LogindError where there is none, with AbortedError when the signal fires.
 */
export interface Logind {
  /** How long it waits for all delays together (`InhibitDelayMaxUSec`), in milliseconds. */
  readInhibitDelayMs(signal: AbortSignal): Promise<number>;
  /** A shutdown has been announced and waits. */
  isPreparingForShutdown(signal: AbortSignal): Promise<boolean>;
  /** Asks it to read its configuration again; returns before it has. */
  reloadConfiguration(signal: AbortSignal): Promise<void>;
  /** From here on a shutdown waits until the delay is released, or this process has ended, or the limit is over. */
  delayShutdown(why: string, signal: AbortSignal): Promise<ShutdownDelay>;
  /**
   * Calls `onWatching` once nothing is missed any more, and `onShutdown` with true when a shutdown is announced, with false
   * when it was called off. Rejects when the bus is lost.
   */
  watchShutdowns(listener: ShutdownListener, signal: AbortSignal): Promise<never>;
}

/** What holds a shutdown up. */
export interface ShutdownDelay {
  /** Never rejects; may be called again. */
  release(): Promise<void>;
}

/** Is told of shutdowns. */
export interface ShutdownListener {
  onWatching(): void;
  onShutdown(isAnnounced: boolean): void;
}

/** `missing`: the programs that speak to logind are not installed; `failed`: it was asked and did not do it. */
export class LogindError extends CodedError<"missing" | "failed"> {
  override readonly name = "LogindError";
}
