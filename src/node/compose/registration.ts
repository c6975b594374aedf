import { SECOND } from "../../base/clock.ts";
import { createNodeRegistration, type NodeRegistration } from "../cluster/node-status/node-registration.ts";
import { createNodeStartup } from "../cluster/node-status/node-startup.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import type { KubePorts } from "./node-agent-ports.ts";

const CALL_TIMEOUT_MS = 10 * SECOND;

/** The registration of the node's object, which others wait for. */
export function composeRegistration(
  { ports, config }: Foundation,
  kube: KubePorts,
  devices: Pick<DeviceParts, "wasRestored">,
): NodeRegistration {
  const { host, log, metrics } = ports;
  const { clock, random, proc } = host;
  const { nodeName, kubelet } = config;
  const startup = createNodeStartup({ clock, metrics, bootedAt: proc.bootedAt });
  return createNodeRegistration(
    { client: kube.heartbeat, clock, random, log, startup },
    {
      nodeName,
      registerNode: kubelet.registerNode ?? true,
      timeoutMs: CALL_TIMEOUT_MS,
      // Without a checkpoint the machine is new, and what the API server counts of it is of the one before.
      resetExtendedResources: !devices.wasRestored,
    },
  );
}
