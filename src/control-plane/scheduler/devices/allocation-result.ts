import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NodeSelector,
  NodeSelectorRequirement,
  ResourceClaimSpec,
} from "../../../api/gen/types.ts";
import type { ChosenDevice } from "./allocate-devices.ts";

/** What the claim's status says of the devices that were chosen for it. */
export function allocationResultOf(spec: ResourceClaimSpec, chosen: readonly ChosenDevice[]): AllocationResult {
  const config = [...configOfClasses(chosen), ...configOfClaim(spec, chosen)];
  const nodeSelector = nodeSelectorOf(chosen);
  return {
    devices: { results: chosen.map(resultOf), ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  };
}

function resultOf({ wanted, device }: ChosenDevice): DeviceRequestAllocationResult {
  const { name, isAdmin, tolerations } = wanted;
  return {
    request: name,
    driver: device.driver,
    pool: device.pool,
    device: device.device.name,
    ...(isAdmin && { adminAccess: true }),
    ...(tolerations.length > 0 && { tolerations: [...tolerations] }),
  };
}

/** The configurations of the classes, each class once with all requests for it. */
function configOfClasses(chosen: readonly ChosenDevice[]): DeviceAllocationConfiguration[] {
  const byClass = new Map<string, DeviceAllocationConfiguration[]>();
  for (const { name, deviceClass } of new Set(chosen.map(({ wanted }) => wanted))) {
    const className = deviceClass.metadata?.name ?? "";
    const known = byClass.get(className);
    for (const entry of known ?? []) entry.requests?.push(name);
    if (known !== undefined) continue;
    const config = (deviceClass.spec.config ?? []).map((own) => ({ ...own, source: "FromClass", requests: [name] }));
    byClass.set(className, config);
  }
  return [...byClass.values()].flat();
}

/** The claim's own configurations that are for all requests, or for one that was satisfied that way. */
function configOfClaim(
  { devices }: ResourceClaimSpec,
  chosen: readonly ChosenDevice[],
): DeviceAllocationConfiguration[] {
  const names = new Set(chosen.flatMap(({ wanted }) => [wanted.request, wanted.name]));
  return (devices?.config ?? []).flatMap((own) => {
    const { requests = [] } = own;
    const isMeant = requests.length === 0 || requests.some((name) => names.has(name));
    return isMeant ? [{ ...own, source: "FromClaim" }] : [];
  });
}

/** The nodes that reach all of the devices; undefined for all nodes. */
function nodeSelectorOf(chosen: readonly ChosenDevice[]): NodeSelector | undefined {
  const matchFields: NodeSelectorRequirement[] = [];
  const matchExpressions: NodeSelectorRequirement[] = [];
  for (const { nodeName, nodeSelector } of new Set(chosen.map(({ device }) => device.slice))) {
    if (nodeName) {
      const own = { key: "metadata.name", operator: "In", values: [nodeName] };
      return { nodeSelectorTerms: [{ matchFields: [own] }] };
    }
    const [term] = nodeSelector?.nodeSelectorTerms ?? [];
    addMissing(matchFields, term?.matchFields);
    addMissing(matchExpressions, term?.matchExpressions);
  }
  if (matchFields.length + matchExpressions.length === 0) return undefined;
  const term = {
    ...(matchFields.length > 0 && { matchFields }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  return { nodeSelectorTerms: [term] };
}

function addMissing(known: NodeSelectorRequirement[], added: readonly NodeSelectorRequirement[] = []): void {
  for (const requirement of added) {
    const text = JSON.stringify(requirement);
    if (!known.some((other) => JSON.stringify(other) === text)) known.push(requirement);
  }
}
