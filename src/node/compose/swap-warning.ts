import { messageOf } from "../../base/errors.ts";
import type { Part } from "../../base/run-parts.ts";
import { findSwappedVolumes } from "../resources/capacity/machine-swap.ts";
import type { Foundation } from "./foundation.ts";
import type { Reporting } from "./reporting.ts";

/** Tells once where volumes in memory may reach a disk. */
export function composeSwapWarning(
  { ports }: Foundation,
  { recordNodeEvent }: Pick<Reporting, "recordNodeEvent">,
): Part {
  const { host, log } = ports;
  return {
    name: "swap",
    async run() {
      try {
        const message = await findSwappedVolumes(host.files, host.machine);
        if (message === undefined) return;
        log.warn(message);
        recordNodeEvent({ type: "Warning", reason: "PossibleMemoryBackedVolumesOnDisk", message });
      } catch (error) {
        log.error("Cannot tell whether volumes in memory may be swapped", { error: messageOf(error) });
      }
    },
  };
}
