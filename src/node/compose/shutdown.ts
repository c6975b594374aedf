import type { Part } from "../../base/run-parts.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { createNodeShutdown } from "../upkeep/shutdown/node-shutdown.ts";
import { computeShutdownPeriods } from "../upkeep/shutdown/shutdown-periods.ts";
import { createShutdownRecord } from "../upkeep/shutdown/shutdown-record.ts";
import { isEveryPodTakenUp } from "../upkeep/shutdown/taken-up-pods.ts";
import type { Foundation } from "./foundation.ts";
import type { ReadingParts } from "./readings.ts";
import type { Reporting } from "./reporting.ts";
import type { SourceParts } from "./sources.ts";

interface ShutdownNeighbours {
  readonly workers: PodWorkers;
  readonly reporting: Reporting;
  readonly sources: SourceParts;
  readonly readings: ReadingParts;
}

/** Lets pods end before the machine does. There is no such part where the configuration gives them no time for it. */
export function composeShutdown(
  { ports, config, timeline, shutdown: notice }: Foundation,
  { workers, reporting, sources, readings }: ShutdownNeighbours,
): readonly Part[] {
  const periods = computeShutdownPeriods(config.kubelet, config.featureGates);
  const { host, log, metrics } = ports;
  const { clock, files, logind } = host;
  // The record's series exist also where it is never written.
  const record = createShutdownRecord({ files, log, metrics }, config.rootDirectory);
  if (periods.length === 0) return [];
  const { recordNodeEvent, flush } = reporting;
  const takenUp = { desired: sources.desired, running: readings.running, workers };
  const shutdown = createNodeShutdown(
    {
      clock,
      log,
      files,
      logind,
      timeline,
      workers,
      notice,
      record,
      isEveryPodTakenUp: () => isEveryPodTakenUp(takenUp),
      recordNodeEvent,
      flush,
    },
    periods,
  );
  return [{ name: "shutdown of the machine", run: shutdown.run }];
}
