import type { Container, Pod, PodStatus, ResourceRequirements } from "./gen/types.ts";
import { isTerminalPhase } from "./pods.ts";
import { compareQuantities, quantityMilliValue, quantityValue } from "./quantity.ts";
import { computePodRequests, type ResourceList } from "./resources.ts";

/** The amounts by resource: millicores of `cpu`, whole units (bytes, pieces) of everything else. */
export type Amounts = ReadonlyMap<string, bigint>;

/** Converts a list to amounts; zero amounts are left out. */
export function amountsOf(list: Readonly<ResourceList>): Amounts {
  const amounts = new Map<string, bigint>();
  for (const [name, quantity] of Object.entries(list)) {
    const amount = name === "cpu" ? quantityMilliValue(quantity) : quantityValue(quantity);
    if (amount !== 0n) amounts.set(name, amount);
  }
  return amounts;
}

/**
 * Returns what a pod takes of its node. Where a running container was resized, both its present and its future amount
 * must fit until the node has resized it (`component-helpers/resource`, UseStatusResources).
 */
export function computeRequests(pod: Pod): Amounts {
  const { spec, status } = pod;
  if (spec === undefined) return new Map();
  if (!spec.nodeName || isTerminalPhase(status?.phase)) return amountsOf(computePodRequests(pod));
  return amountsOf(computePodRequests(effectivePod(pod)));
}

/** The pod with the larger of what it and each container ask for and what they have now, which differ during a resize. */
export function effectivePod(pod: Pod): Pod {
  const { spec, status } = pod;
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  if (spec === undefined || (statuses.length === 0 && status?.resources === undefined)) return pod;
  const actual = new Map(
    statuses.map(({ name, resources, allocatedResources = {} }) => {
      const requests = larger(resources?.requests ?? {}, allocatedResources);
      return [name, { requests, limits: resources?.limits ?? {} }];
    }),
  );
  const resized = (container: Container): Container => {
    const has = actual.get(container.name);
    if (has === undefined) return container;
    const requests = larger(container.resources?.requests ?? {}, has.requests);
    const limits = larger(container.resources?.limits ?? {}, has.limits);
    return { ...container, resources: { ...container.resources, requests, limits } };
  };
  const { containers, initContainers } = spec;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map(resized),
      ...(initContainers && { initContainers: initContainers.map(resized) }),
      ...(spec.resources && { resources: largerOfPod(spec.resources, status) }),
    },
  };
}

/** Only amounts that the pod sets as a whole count as such. */
function largerOfPod(own: ResourceRequirements, { resources, allocatedResources = {} }: PodStatus = {}) {
  const select = (from: ResourceList, names: ResourceList) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => Object.hasOwn(names, name)));
  const { requests = {}, limits = {} } = own;
  const has = larger(resources?.requests ?? {}, allocatedResources);
  return {
    ...own,
    requests: larger(requests, select(has, requests)),
    limits: larger(limits, select(resources?.limits ?? {}, limits)),
  };
}

function larger(a: Readonly<ResourceList>, b: Readonly<ResourceList>): ResourceList {
  const result = { ...a };
  for (const [name, quantity] of Object.entries(b)) {
    const known = result[name];
    if (known === undefined || compareQuantities(quantity, known) > 0) result[name] = quantity;
  }
  return result;
}
