import type { AddressFamily } from "../rules/fragment.ts";
import type { StaleFlow } from "../rules/rule-compiler.ts";
import { type ChosenEndpoint, endpointKeyOf } from "./port-endpoints.ts";

/** A UDP port of a service: where it is called, and where it goes. */
export interface UdpPort {
  readonly family: AddressFamily;
  readonly addresses: readonly string[];
  readonly port: number;
  /** 0 for none. */
  readonly nodePort: number;
  readonly endpoints: readonly ChosenEndpoint[];
}

/**
 * Finds the flows that the kernel would go on sending as before, because a UDP client that keeps sending keeps its
 * entry: those to endpoints that are gone, and those to nowhere of a port that has endpoints now.
 */
export function findStaleFlows(before: readonly UdpPort[], after: readonly UdpPort[]): StaleFlow[] {
  const nextOf = new Map(after.map((port) => [keyOf(port), port]));
  const previousOf = new Map(before.map((port) => [keyOf(port), port]));
  const left = before.flatMap((port) => {
    const kept = nextOf.get(keyOf(port))?.endpoints ?? [];
    const isKept = new Set(kept.map(endpointKeyOf));
    return port.endpoints
      .filter((endpoint) => !isKept.has(endpointKeyOf(endpoint)))
      .flatMap((gone) => flowsOf(port, gone));
  });
  const awaited = after.flatMap((port) => {
    const had = previousOf.get(keyOf(port))?.endpoints.length ?? 0;
    return had === 0 && port.endpoints.length > 0 ? flowsOf(port, undefined) : [];
  });
  return [...left, ...awaited];
}

function flowsOf({ family, addresses, port, nodePort }: UdpPort, endpoint: ChosenEndpoint | undefined): StaleFlow[] {
  const called = addresses.map((destination): StaleFlow => ({ family, protocol: "udp", destination, port, endpoint }));
  if (nodePort === 0) return called;
  return [...called, { family, protocol: "udp", destination: undefined, port: nodePort, endpoint }];
}

function keyOf({ family, addresses: [address = ""], port }: UdpPort): string {
  return `${family} ${address} ${port}`;
}
