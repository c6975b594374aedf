import { Signal } from "../../../cri/gen/cri-v1.ts";

/**
 * Converts the name of a signal as pods write it (`SIGTERM`, `SIGRTMIN+1`) to CRI's; undefined for a signal that does
 * not exist.
 */
export function criStopSignal(signal: string): Signal | undefined {
  const name = `SIGNAL_${signal.replace("+", "PLUS").replace("-", "MINUS")}`;
  return Object.entries(Signal).find(([known]) => known === name)?.[1];
}
