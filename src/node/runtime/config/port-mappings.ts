import type { Container, ContainerPort, Pod } from "../../../api/gen/types.ts";
import { type PortMapping, Protocol } from "../../../cri/gen/cri-v1.ts";

/**
 * Builds the port mappings of the pod's main containers for the sandbox. Where two ports of a container have one name,
 * the first counts.
 */
export function buildPortMappings(pod: Pod): PortMapping[] {
  return (pod.spec?.containers ?? []).flatMap(mapContainerPorts);
}

function mapContainerPorts({ ports = [] }: Container): PortMapping[] {
  const byName = new Map<string, ContainerPort>();
  for (const port of ports) {
    const name = port.name || anonymousName(port);
    if (!byName.has(name)) byName.set(name, port);
  }
  return [...byName.values()].map(({ protocol, containerPort, hostPort = 0, hostIP = "" }) => ({
    protocol: protocolOf(protocol),
    containerPort,
    hostPort,
    hostIp: hostIP,
  }));
}

/** One port may be mapped once per address family. */
function anonymousName({ hostIP = "", protocol = "TCP", containerPort, hostPort = 0 }: ContainerPort): string {
  const family = hostIP === "" ? "any" : hostIP.includes(":") ? "v6" : "v4";
  return `${family}-${protocol}-${hostIP}:${containerPort}:${hostPort}`;
}

function protocolOf(protocol: string | undefined): Protocol {
  if (protocol === "UDP") return Protocol.UDP;
  return protocol === "SCTP" ? Protocol.SCTP : Protocol.TCP;
}
