import type { Service } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import {
  clusterIpsOf,
  IP_ADDRESSES,
  ipAddressFor,
  isAddressOf,
  isReadyRange,
  SERVICE_RANGES,
  splitServiceRanges,
} from "../../../../api/service-addresses.ts";
import type { Companion, ResourceKind } from "../../../ports/resource-kind.ts";
import type { ResourceReader } from "../../../ports/resources.ts";
import { familiesIn } from "./cluster-ip-allocation.ts";
import { serviceKind } from "./service.ts";
import { allocateService, type TakenServices } from "./service-allocation.ts";

/** The range of node ports, first and last, as upstream's default of `--service-node-port-range`. */
const NODE_PORTS: readonly [number, number] = [30_000, 32_767];

type Reader = Pick<ResourceReader, "get" | "list">;

/** The families of the services' cluster IPs, and the randomness that picks from the ranges. */
export interface ServiceAllocation {
  /** `10.96.0.0/16`, or two ranges of different families with a comma; the first is of the default family. */
  readonly serviceCidr: string;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/**
 * The kind of services in a cluster: its strategy gives each service its cluster IPs, from the ranges that are ready, and
 * its node ports. The IPAddress of each cluster IP is stored and removed together with its service.
 */
export function createAllocatingServiceKind({ serviceCidr, random }: ServiceAllocation): ResourceKind {
  const families = familiesIn(splitServiceRanges(serviceCidr));
  return {
    ...serviceKind,
    strategy: {
      ...serviceKind.strategy,
      allocate(next, current, reader) {
        const service = typed("Service", next);
        const ranges = { families, cidrs: readyRanges(reader), nodePorts: NODE_PORTS };
        const taken = findTaken(reader, service);
        return untyped(allocateService(service, current && typed("Service", current), taken, { ranges, random }));
      },
      accompany,
    },
  };
}

function readyRanges(reader: Reader): string[] {
  const ranges = reader.list(SERVICE_RANGES).map((object) => typed("ServiceCIDR", object));
  return ranges.filter(isReadyRange).flatMap(({ spec }) => spec?.cidrs ?? []);
}

/** An address is taken where its object says so, or a service has it whose object is missing. */
function findTaken(reader: Reader, { metadata }: Service): TakenServices {
  const clusterIPs = new Set<string>();
  const nodePorts = new Set<number>();
  for (const object of reader.list("services")) {
    if (object.metadata.uid === metadata?.uid) continue;
    const service = typed("Service", object);
    const { spec } = service;
    for (const address of clusterIpsOf(service)) clusterIPs.add(address);
    for (const { nodePort } of spec?.ports ?? []) if (nodePort) nodePorts.add(nodePort);
    if (spec?.healthCheckNodePort) nodePorts.add(spec.healthCheckNodePort);
  }
  const hasAddress = (address: string) => clusterIPs.has(address) || addressObject(reader, address) !== undefined;
  return { hasAddress, nodePorts };
}

function addressObject(reader: Reader, name: string): KubeObject | undefined {
  return reader.get({ resource: IP_ADDRESSES, namespace: "", name });
}

/** The addresses that a service gets and gives up by a change. */
function accompany(next: KubeObject | undefined, current: KubeObject | undefined, reader: Reader): Companion[] {
  const after = next && typed("Service", next);
  const before = current && typed("Service", current);
  return [...addressesGot(after, before, reader), ...addressesGivenUp(after, before, reader)];
}

function addressesGot(after: Service | undefined, before: Service | undefined, reader: Reader): Companion[] {
  if (after === undefined) return [];
  const had = before === undefined ? [] : clusterIpsOf(before);
  const got = clusterIpsOf(after).filter((one) => !had.includes(one) && addressObject(reader, one) === undefined);
  return got.map((address) => {
    return { type: "create", resource: IP_ADDRESSES, object: untyped(ipAddressFor(after, address)) };
  });
}

/** An address that somebody else has taken over by hand stays with them. */
function addressesGivenUp(after: Service | undefined, before: Service | undefined, reader: Reader): Companion[] {
  if (before === undefined) return [];
  const kept = after === undefined ? [] : clusterIpsOf(after);
  const givenUp = clusterIpsOf(before).filter((one) => {
    const object = kept.includes(one) ? undefined : addressObject(reader, one);
    return object !== undefined && isAddressOf(typed("IPAddress", object), before);
  });
  return givenUp.map((name) => ({ type: "remove", resource: IP_ADDRESSES, namespace: "", name }));
}
