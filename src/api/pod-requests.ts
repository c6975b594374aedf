import type { Container, Pod } from "./gen/types.ts";
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
  const actual = new Map<string, ResourceList>();
  for (const { name, resources, allocatedResources } of [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
  ]) {
    actual.set(name, larger(resources?.requests ?? {}, allocatedResources ?? {}));
  }
  const resized = (container: Container): Container => {
    const has = actual.get(container.name);
    if (has === undefined || Object.keys(has).length === 0) return container;
    return { ...container, resources: { ...container.resources, requests: larger(requestsOf(container), has) } };
  };
  const { containers, initContainers } = spec;
  const effective = {
    ...spec,
    containers: containers.map(resized),
    ...(initContainers && { initContainers: initContainers.map(resized) }),
  };
  return amountsOf(computePodRequests({ ...pod, spec: effective }));
}

const requestsOf = ({ resources }: Container): ResourceList => resources?.requests ?? {};

function larger(a: Readonly<ResourceList>, b: Readonly<ResourceList>): ResourceList {
  const result = { ...a };
  for (const [name, quantity] of Object.entries(b)) {
    const known = result[name];
    if (known === undefined || compareQuantities(quantity, known) > 0) result[name] = quantity;
  }
  return result;
}
