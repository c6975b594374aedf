import { ApiError, badRequestError, notFoundError } from "../../api/api-error.ts";
import type { EndpointSubset, Endpoints, Pod } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import type { CallTls, WebServer } from "../../host/web-call.ts";
import type { ConnectCall } from "../ports/connect.ts";
import type { ConnectDeps } from "./connect-deps.ts";
import { type NameAndPort, splitNameAndPort } from "./name-and-port.ts";
import { nodeTls } from "./node-call.ts";
import { type CheckedLocation, findNode, reachNode } from "./node-location.ts";
import { findPod } from "./pod-container.ts";
import { isProxyable } from "./reachable-address.ts";

/** The server to which a proxied request goes. */
export interface Destination extends WebServer {
  /** The options for `https`. */
  readonly tls: CallTls;
}

/** Finds the destination of `proxy` of each kind. Each function throws ApiErrors. */
export interface Destinations {
  ofPod(call: ConnectCall): Destination;
  ofService(call: ConnectCall): Destination;
  ofNode(
    call: Pick<ConnectCall, "name"> & { readonly request: { readonly signal: AbortSignal } },
  ): Promise<Destination>;
}

/** The dependencies that decide on destinations. */
type DestinationDeps = Pick<ConnectDeps, "reader" | "resolveHost" | "identity" | "localNode" | "random">;

/** Certificates of pods are not checked: they are of any kind, and kube-apiserver checks none. */
const ANY_CERTIFICATE: CallTls = { ca: undefined };

/** Follows `ResourceLocation` of pkg/registry/core/{pod,service,node}. */
export function createDestinations(deps: DestinationDeps): Destinations {
  const { reader } = deps;
  return {
    ofPod({ namespace, name: id }) {
      const { scheme, name, port } = splitOf("pod", id);
      const pod = findPod(reader, { namespace, name });
      const { spec, status } = pod;
      const declared = spec?.containers.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
      const host = status?.podIPs?.[0]?.ip ?? "";
      if (!isProxyable(host)) throw badRequestError("address not allowed");
      return destination(scheme, host, port === "" && declared !== undefined ? String(declared) : port);
    },
    ofService({ namespace, name: id }) {
      const asked = splitOf("service", id);
      const portName = portNameOf(deps, namespace, asked);
      const found = findEndpoint(deps, { namespace, id, name: asked.name, portName });
      return destination(asked.scheme, found.ip, String(found.port));
    },
    async ofNode({ name: id, request }) {
      const { scheme, name, port } = splitOf("node", id);
      const isNodeApi = port === "" || port === String(findNode(deps, name).port);
      if (isNodeApi) return nodeApi(deps, await reachNode(deps, name, request.signal));
      // The local node's API may be on loopback; other servers on loopback are not reachable through the node.
      const { host, addresses } = await reachNode({ ...deps, localNode: undefined }, name, request.signal);
      return { ...destination(scheme, host, port), addresses };
    },
  };
}

const nodeApi = ({ identity }: DestinationDeps, node: CheckedLocation): Destination => ({
  ...node,
  scheme: "https",
  tls: nodeTls(identity),
});

function splitOf(kind: string, id: string): NameAndPort {
  const split = splitNameAndPort(id);
  if (split === undefined) throw badRequestError(`invalid ${kind} request ${JSON.stringify(id)}`);
  return split;
}

function destination(given: NameAndPort["scheme"], host: string, port: string): Destination {
  const scheme = given === "" ? "http" : given;
  const number = port === "" ? DEFAULT_PORTS[scheme] : Number(port);
  if (Number.isInteger(number) && number > 0 && number <= 65_535) {
    return { scheme, host, port: number, tls: ANY_CERTIFICATE };
  }
  const why = /^\d+$/.test(port) ? "invalid port" : "unknown port";
  throw new ApiError(
    "ServiceUnavailable",
    `error trying to reach service: dial tcp: ${/^\d+$/.test(port) ? `address ${port}: ${why}` : `lookup tcp/${port}: ${why}`}`,
  );
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Endpoints know ports by their names: the service tells which one a number means. */
function portNameOf({ reader }: DestinationDeps, namespace: string, { name, port }: NameAndPort): string {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const object = reader.get({ resource: "services", namespace, name });
  if (object === undefined) throw notFoundError({ group: "", resource: "services" }, name);
  const found = typed("Service", object).spec?.ports?.find((declared) => declared.port === Number(port));
  if (found !== undefined) return found.name ?? "";
  const message = `no service port ${Number(port)} found for service ${JSON.stringify(name)}`;
  throw new ApiError("ServiceUnavailable", message);
}

interface WantedEndpoint {
  readonly namespace: string;
  /** The name as the request has it, with scheme and port. */
  readonly id: string;
  readonly name: string;
  readonly portName: string;
}

/** A random pod of the service: the search for a subset with the port begins at a random one. */
function findEndpoint(deps: DestinationDeps, { namespace, id, name, portName }: WantedEndpoint) {
  const object = deps.reader.get({ resource: "endpoints", namespace, name });
  // Upstream's words are the same for a service that exists and has no endpoints object.
  if (object === undefined) throw notFoundError({ group: "", resource: "services" }, name);
  const endpoints: Endpoints = typed("Endpoints", object);
  const subsets = endpoints.subsets ?? [];
  if (subsets.length === 0) throw noEndpoints(name);
  for (const subset of fromRandomOn(subsets, deps.random)) {
    const port = subset.ports?.find((declared) => (declared.name ?? "") === portName);
    if (port === undefined) continue;
    const ip = podAddresses(deps, namespace, subset)[0];
    if (ip !== undefined) return { ip, port: port.port };
  }
  throw noEndpoints(id);
}

const noEndpoints = (name: string) =>
  new ApiError("ServiceUnavailable", `no endpoints available for service ${JSON.stringify(name)}`);

/**
 * The subset's addresses that are a pod's and may be proxied to: users may write endpoints, and nodes what addresses their
 * pods have, and each could point them anywhere.
 */
function podAddresses(
  { reader, random }: DestinationDeps,
  namespace: string,
  { addresses = [] }: EndpointSubset,
): string[] {
  return fromRandomOn(addresses, random).flatMap(({ ip, targetRef }) => {
    if (targetRef?.namespace !== namespace) return [];
    const object = reader.get({ resource: "pods", namespace, name: targetRef.name ?? "" });
    const pod: Pod | undefined = object && typed("Pod", object);
    return isProxyable(ip) && pod?.status?.podIPs?.some((podIp) => podIp.ip === ip) ? [ip] : [];
  });
}

function fromRandomOn<T>(items: readonly T[], random: () => number): readonly T[] {
  const start = Math.floor(random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
