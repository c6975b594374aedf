import { isIP } from "node:net";
import { typed, untyped } from "../api/object.ts";
import { allocateService } from "./kinds/core/service/service-allocation.ts";
import type { ResourceReader } from "./ports/resources.ts";
import type { RegistryDeps } from "./registry/registry-deps.ts";

/** As upstream's default. */
const NODE_PORTS: readonly [number, number] = [30_000, 32_767];

/** Gives services their cluster addresses and node ports; every other object goes by as it is. */
export function allocateServices(
  { reader, random }: { reader: ResourceReader; random: () => number },
  { serviceCidr }: { serviceCidr: string },
): RegistryDeps["allocate"] {
  return (object, current) => {
    if (object.kind !== "Service" || object.apiVersion !== "v1") return object;
    const service = typed("Service", object);
    const taken = takenBy(reader, service.metadata?.uid ?? "");
    const before = current && typed("Service", current);
    return untyped(allocateService(service, before, taken, { ranges: { serviceCidr, nodePorts: NODE_PORTS }, random }));
  };
}

function takenBy(reader: ResourceReader, exceptUid: string) {
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
