import { hostPortsOf } from "../../../api/host-ports.ts";
import type { AdmitHandler } from "./pod-rejection.ts";

/** Loopback by name and by address, as in URLs. */
const LOOPBACK = /^(localhost|127\..*|\[::1\])$/;
const HTTPS_PORT = 443;

interface ServedPorts {
  readonly port: number;
  readonly readOnlyPort: number;
  readonly healthzPort: number | undefined;
}

/** The ports on which this node is called: its servers', and that of an API server at its loopback. */
export function listOwnPorts(
  { port, readOnlyPort, healthzPort = 0 }: ServedPorts,
  apiServer: string | undefined,
): number[] {
  const url = apiServer !== undefined && URL.canParse(apiServer) ? new URL(apiServer) : undefined;
  const isLocal = url !== undefined && LOOPBACK.test(url.hostname);
  return [port, readOnlyPort, healthzPort, ...(isLocal ? [Number(url.port) || HTTPS_PORT] : [])].filter(Boolean);
}

/**
 * Refuses pods with a host port on which the node itself is called: the runtime leads all that comes to the port to the
 * pod, from the node itself too. It would get what the API server sends to the node, or cut the node off from the API
 * server, which then could not delete it. A pod in the node's network leads nothing, and cannot listen where somebody does.
 */
export function createOwnPortsHandler(ownPorts: readonly number[]): AdmitHandler {
  return (pod) => {
    if (pod.spec?.hostNetwork === true) return undefined;
    const taken = hostPortsOf(pod).find(({ port, protocol }) => protocol === "TCP" && ownPorts.includes(port));
    if (taken === undefined) return undefined;
    return { reason: "NodePorts", message: `Predicate NodePorts failed: the node itself uses host port ${taken.port}` };
  };
}
