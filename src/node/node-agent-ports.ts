import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RuntimeEvents } from "../cri/container-events.ts";
import type { Cri } from "../cri/port.ts";
import type { Host } from "../host/port.ts";

/** The doors that the node agent goes through; everything else it makes itself. */
export interface NodeAgentPorts {
  host: Host;
  cri: Cri;
  events: RuntimeEvents;
  log: Log;
  metrics: Metrics;
}
