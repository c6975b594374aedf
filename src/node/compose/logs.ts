import { quantityValue } from "../../api/quantity.ts";
import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { ContainerChanges } from "../runtime/logs/container-changes.ts";
import { createContainerLogsEndpoint } from "../runtime/logs/container-logs-endpoint.ts";
import { createLogRotation } from "../runtime/logs/log-rotation.ts";
import { createSystemLogsEndpoint } from "../runtime/logs/system-logs-endpoint.ts";
import type { NodeView } from "../server/handlers.ts";
import type { NodeEndpoint } from "../server/node-api.ts";
import { createPodFinder } from "../view/find-pod.ts";
import type { Foundation } from "./foundation.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { ReadingParts } from "./readings.ts";

const NODE_LOGS_DIRECTORY = "/var/log";

interface LogEndpointsDeps {
  readonly ports: Pick<NodeAgentPorts, "host" | "cri" | "log">;
  readonly agent: {
    readonly view: Pick<NodeView, "pods">;
    readonly containerChanges: Pick<ContainerChanges, "subscribe">;
  };
}

/** The logs of containers and of the node, by root. */
export function composeLogEndpoints(
  { ports, agent }: LogEndpointsDeps,
  { kubelet, podLogsDirectory, featureGates }: NodeAgentConfig,
): Record<string, NodeEndpoint> {
  const { host, cri, log } = ports;
  const { clock, files, programs } = host;
  return {
    "/containerLogs": createContainerLogsEndpoint(
      {
        findPod: createPodFinder(agent.view),
        runtime: cri.runtime,
        onContainerChange: agent.containerChanges.subscribe,
        files,
        clock,
        log,
      },
      { podLogsDirectory, splitStreams: featureGates.PodLogsQuerySplitStreams },
    ),
    "/logs": createSystemLogsEndpoint(
      { files, programs, clock, log },
      {
        directory: NODE_LOGS_DIRECTORY,
        allowsQuery: featureGates.NodeLogQuery && kubelet.enableSystemLogQuery === true,
      },
    ),
  };
}

/** As upstream, a negative size is no limit. */
export function composeLogRotation({ ports, config }: Foundation, { running }: ReadingParts): Part[] {
  const { host, cri, log } = ports;
  const { clock, files } = host;
  const { kubelet, podLogsDirectory } = config;
  const maxSizeBytes = Number(quantityValue(kubelet.containerLogMaxSize));
  if (maxSizeBytes < 0) return [];
  const rotation = createLogRotation(
    { files, clock, log, runtime: cri.runtime, runningContainers: running.list },
    {
      podLogsDirectory,
      maxSizeBytes,
      maxFiles: kubelet.containerLogMaxFiles,
      maxWorkers: kubelet.containerLogMaxWorkers,
      monitorIntervalMs: kubelet.containerLogMonitorInterval,
    },
  );
  return [{ name: "log rotation", run: rotation.run }];
}
