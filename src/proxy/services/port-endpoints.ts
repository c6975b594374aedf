import type { Endpoint, EndpointSlice } from "../../api/gen/types.ts";
import { ruleFamilyOf } from "../rules/address-family.ts";
import type { PlannedPort } from "./service-port.ts";

/** An address to which connections go. */
export interface ChosenEndpoint {
  readonly ip: string;
  readonly port: number;
}

/** The endpoints of one port, sorted, each once. */
export interface PortEndpoints {
  /** For clients that may be sent to any node. */
  readonly cluster: readonly ChosenEndpoint[];
  /** For clients that must stay on this node. */
  readonly local: readonly ChosenEndpoint[];
}

/** Where this node is; undefined zone where its object names none. */
export interface ProxyPlace {
  readonly nodeName: string;
  readonly zone: string | undefined;
}

interface Candidate extends ChosenEndpoint {
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  readonly isLocal: boolean;
  /** The clients that it is for, by their nodes and zones; empty for all. */
  readonly forNodes: readonly string[];
  readonly forZones: readonly string[];
}

/**
 * Chooses the endpoints: the ready ones, or, where none is, those that end and still serve (KEP-1669). Both choices are
 * made for the cluster, where those near this node come first, and for this node by itself.
 */
export function chooseEndpoints(port: PlannedPort, slices: readonly EndpointSlice[], place: ProxyPlace): PortEndpoints {
  const candidates = slices.flatMap((slice) => listCandidates(port, slice, place.nodeName));
  return { cluster: choose(selectNear(candidates, place)), local: choose(candidates.filter(({ isLocal }) => isLocal)) };
}

/**
 * Selects by hints: those for this node, else those for its zone. Hints count where every ready endpoint has one and one
 * is for us, so that half a set of them cuts nobody off (`pkg/proxy/topology.go`).
 */
function selectNear(candidates: readonly Candidate[], { nodeName, zone = "" }: ProxyPlace): readonly Candidate[] {
  const ready = candidates.filter(({ isReady }) => isReady);
  const forNode = ready.filter(({ forNodes }) => forNodes.includes(nodeName));
  if (forNode.length > 0 && ready.every(({ forNodes }) => forNodes.length > 0)) return forNode;
  const forZone = ready.filter(({ forZones }) => forZones.includes(zone));
  if (forZone.length > 0 && ready.every(({ forZones }) => forZones.length > 0)) return forZone;
  return candidates;
}

function listCandidates(port: PlannedPort, slice: EndpointSlice, nodeName: string): Candidate[] {
  const isFamily = slice.addressType === (port.family === "ip" ? "IPv4" : "IPv6");
  if (!isFamily || slice.metadata?.deletionTimestamp !== undefined) return [];
  const numbers = numbersOf(slice).get(`${port.protocol} ${port.portName}`) ?? [];
  return numbers.flatMap((number) => {
    return (slice.endpoints ?? []).flatMap((endpoint) => candidateOf(endpoint, number, { port, nodeName }));
  });
}

type PortNumbers = ReadonlyMap<string, readonly number[]>;

const numbersBySlice = new WeakMap<EndpointSlice, PortNumbers>();

/** The ports of a slice, by protocol and name: a service may have thousands, each of which asks for its own. */
function numbersOf(slice: EndpointSlice): PortNumbers {
  const known = numbersBySlice.get(slice);
  if (known !== undefined) return known;
  const numbers = new Map<string, number[]>();
  for (const { name = "", protocol = "TCP", port } of slice.ports ?? []) {
    if (port === undefined) continue;
    const key = `${protocol.toLowerCase()} ${name}`;
    const same = numbers.get(key);
    if (same === undefined) numbers.set(key, [port]);
    else same.push(port);
  }
  numbersBySlice.set(slice, numbers);
  return numbers;
}

/** All addresses of an endpoint are of the same thing, and consumers take the first (`discovery/v1`). */
function candidateOf(
  { addresses: [ip = ""], conditions = {}, hints = {}, nodeName: node }: Endpoint,
  number: number,
  { port, nodeName }: { port: PlannedPort; nodeName: string },
): Candidate[] {
  if (ruleFamilyOf(ip) !== port.family) return [];
  const { ready = true, serving = ready, terminating = false } = conditions;
  return [
    {
      ip,
      port: number,
      isReady: ready,
      isServing: serving,
      isTerminating: terminating,
      isLocal: node === nodeName,
      forNodes: (hints.forNodes ?? []).map(({ name }) => name),
      forZones: (hints.forZones ?? []).map(({ name }) => name),
    },
  ];
}

function choose(candidates: readonly Candidate[]): ChosenEndpoint[] {
  const ready = candidates.filter(({ isReady }) => isReady);
  const chosen = ready.length > 0 ? ready : candidates.filter((one) => one.isServing && one.isTerminating);
  const unique = uniqueEndpoints(chosen.map(({ ip, port }) => ({ ip, port })));
  return unique.sort((a, b) => (endpointKeyOf(a) < endpointKeyOf(b) ? -1 : 1));
}

/** Each endpoint once. */
export function uniqueEndpoints(endpoints: readonly ChosenEndpoint[]): ChosenEndpoint[] {
  return [...new Map(endpoints.map((endpoint) => [endpointKeyOf(endpoint), endpoint])).values()];
}

/** Another port of the same pod is another endpoint. */
export function endpointKeyOf({ ip, port }: ChosenEndpoint): string {
  return `${ip} ${port}`;
}
