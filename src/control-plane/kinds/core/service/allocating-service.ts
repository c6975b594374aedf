import { isIP } from "node:net";
import { typed, untyped } from "../../../../api/object.ts";
import type { ResourceKind } from "../../../ports/resource-kind.ts";
import type { ResourceReader } from "../../../ports/resources.ts";
import { serviceKind } from "./service.ts";
import { allocateService, type TakenServices } from "./service-allocation.ts";

/** The range of node ports, first and last, as upstream's default of `--service-node-port-range`. */
const NODE_PORTS: readonly [number, number] = [30_000, 32_767];

/** The range of the services' cluster IPs, and the randomness that picks from the ranges. */
export interface ServiceAllocation {
  /** `10.96.0.0/16`. */
  readonly serviceCidr: string;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** The kind of services in a cluster: its strategy gives each service its cluster IPs and node ports. */
export function createAllocatingServiceKind({ serviceCidr, random }: ServiceAllocation): ResourceKind {
  const ranges = { serviceCidr, nodePorts: NODE_PORTS };
  return {
    ...serviceKind,
    strategy: {
      ...serviceKind.strategy,
      allocate(next, current, reader) {
        const service = typed("Service", next);
        const taken = findTaken(reader, service.metadata?.uid ?? "");
        return untyped(allocateService(service, current && typed("Service", current), taken, { ranges, random }));
      },
    },
  };
}

function findTaken(reader: Pick<ResourceReader, "list">, exceptUid: string): TakenServices {
  const clusterIPs = new Set<string>();
  const nodePorts = new Set<number>();
  for (const object of reader.list("services")) {
    if (object.metadata.uid === exceptUid) continue;
    const { spec } = typed("Service", object);
    for (const address of [spec?.clusterIP ?? "", ...(spec?.clusterIPs ?? [])]) {
      if (isIP(address) !== 0) clusterIPs.add(address);
    }
    for (const { nodePort } of spec?.ports ?? []) if (nodePort) nodePorts.add(nodePort);
    if (spec?.healthCheckNodePort) nodePorts.add(spec.healthCheckNodePort);
  }
  return { clusterIPs, nodePorts };
}
