import type { Pod } from "./gen/types.ts";
import { isRestartableInitContainer } from "./pods.ts";

/** A port of the node that a container wants for itself. */
export interface HostPort {
  /** `0.0.0.0` stands for all addresses of the node. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const WILDCARD = "0.0.0.0";

/** Returns the host ports of containers that run for as long as the pod does. */
export function hostPortsOf({ spec }: Pod): HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(isRestartableInitContainer);
  return [...(spec?.containers ?? []), ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = "", protocol = "" }) => {
      return hostPort > 0 ? [{ ip: hostIP || WILDCARD, protocol: protocol || "TCP", port: hostPort }] : [];
    }),
  );
}

/** True where only one of the two ports can be taken. */
export function isSameHostPort(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === WILDCARD || b.ip === WILDCARD;
}
