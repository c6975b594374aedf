import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { createNodeShutdown } from "../upkeep/shutdown/node-shutdown.ts";
import type { ShutdownNotice } from "../upkeep/shutdown/shutdown-notice.ts";
import { computeShutdownPeriods } from "../upkeep/shutdown/shutdown-periods.ts";
import { createShutdownRecord } from "../upkeep/shutdown/shutdown-record.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { Reporting } from "./reporting.ts";

interface ShutdownPartsDeps {
  ports: NodeAgentPorts;
  notice: ShutdownNotice;
  workers: PodWorkers;
  /** Undefined: there is no API server to tell. */
  reporting: Pick<Reporting, "recordNodeEvent" | "flush"> | undefined;
}

/** Who lets pods end before the machine does; nobody where the configuration gives them no time for it. */
export function composeShutdown(
  { ports, notice, workers, reporting }: ShutdownPartsDeps,
  { kubelet, featureGates, rootDirectory }: NodeAgentConfig,
): readonly Part[] {
  const periods = computeShutdownPeriods(kubelet, featureGates);
  const { host, log, metrics } = ports;
  const { clock, files, logind } = host;
  // Its series are there also where nothing will ever be written.
  const record = createShutdownRecord({ files, log, metrics }, rootDirectory);
  if (periods.length === 0) return [];
  const shutdown = createNodeShutdown(
    {
      clock,
      log,
      files,
      logind,
      workers,
      notice,
      record,
      recordNodeEvent: (decision) => reporting?.recordNodeEvent(decision),
      flush: async () => await reporting?.flush(),
    },
    periods,
  );
  return [{ name: "shutdown of the machine", run: shutdown.run }];
}
