import type { RuntimeEvents } from "../../../cri/container-events.ts";
import type { Pleg } from "./pleg.ts";

/**
 * Passes the runtime's events to PLEG as hints until the signal fires. Only ends are of interest: a start is the node
 * agent's own doing, and its result was read when the call returned.
 */
export async function followRuntimeEvents(
  events: RuntimeEvents,
  pleg: Pick<Pleg, "hint" | "setEventDriven">,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of events.subscribe(signal, (connected) => pleg.setEventDriven(connected))) {
    if (event.kind === "stopped") pleg.hint(event.containerId, event.podUid);
  }
}
