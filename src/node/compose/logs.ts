import { quantityValue } from "../../api/quantity.ts";
import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { Pleg } from "../pods/pleg/pleg.ts";
import type { ContainerChanges } from "../runtime/logs/container-changes.ts";
import { createContainerLogsEndpoint } from "../runtime/logs/container-logs-endpoint.ts";
import { createLogRotation } from "../runtime/logs/log-rotation.ts";
import { createSystemLogsEndpoint } from "../runtime/logs/system-logs-endpoint.ts";
import type { NodeView } from "../server/handlers.ts";
import type { NodeEndpoint } from "../server/node-api.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

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
        findPod: (namespace, name) =>
          agent.view.pods().find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name),
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

interface LogRotationDeps {
  readonly ports: Pick<NodeAgentPorts, "host" | "cri" | "log">;
  readonly pleg: Pick<Pleg, "pods">;
}

/** As upstream, a negative size is no limit. */
export function composeLogRotation(
  { ports, pleg }: LogRotationDeps,
  { kubelet, podLogsDirectory }: NodeAgentConfig,
): Part[] {
  const { host, cri, log } = ports;
  const { clock, files } = host;
  const maxSizeBytes = Number(quantityValue(kubelet.containerLogMaxSize));
  if (maxSizeBytes < 0) return [];
  const rotation = createLogRotation(
    { files, clock, log, runtime: cri.runtime, runningContainers: () => runningContainersOf(pleg) },
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

function* runningContainersOf({ pods }: Pick<Pleg, "pods">): Generator<string> {
  for (const { containers } of pods().values()) {
    for (const { id, state } of containers) if (state === "running") yield id;
  }
}
