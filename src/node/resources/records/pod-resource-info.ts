import type { Container, Pod, ResourceRequirements } from "../../../api/gen/types.ts";
import { compareQuantities } from "../../../api/quantity.ts";

/** The resources of a pod's containers by their names, and those that the pod sets as a whole. */
export interface PodResourceInfo {
  readonly containers: Readonly<Record<string, ResourceRequirements>>;
  readonly pod?: ResourceRequirements | undefined;
}

/** The resources that the pod asks for, those of init containers included. */
export function resourceInfoOf({ spec }: Pod): PodResourceInfo {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const containers = Object.fromEntries(all.map(({ name, resources = {} }) => [name, resources]));
  return { containers, ...(spec?.resources && { pod: spec.resources }) };
}

/** The pod with these resources; the pod itself where they are what it asks for. Containers without an entry stay. */
export function withResources(pod: Pod, info: PodResourceInfo | undefined): Pod {
  const { spec } = pod;
  if (info === undefined || spec === undefined || asksFor(pod, info)) return pod;
  const sized = (container: Container): Container => {
    const resources = resourcesIn(info, container.name);
    return resources === undefined ? container : { ...container, resources };
  };
  const { resources: _own, ...rest } = spec;
  return {
    ...pod,
    spec: {
      ...rest,
      containers: spec.containers.map(sized),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(sized) }),
      ...(info.pod && { resources: info.pod }),
    },
  };
}

/** Whether the pod asks for just these resources; containers without an entry are taken to. */
export function asksFor({ spec }: Pod, info: PodResourceInfo): boolean {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  if (!isSameRequirements(spec?.resources, info.pod)) return false;
  return all.every(({ name, resources }) => {
    const known = resourcesIn(info, name);
    return known === undefined || isSameRequirements(resources, known);
  });
}

/**
 * Whether a pod has not got what it was granted as a whole. One that is recorded without such resources had none, and may have
 * been granted some since.
 */
export function lacksPodResources({ spec }: Pod, actuated: PodResourceInfo | undefined): boolean {
  return actuated !== undefined && !isSameRequirements(actuated.pod, spec?.resources);
}

/** The recorded resources of a container; the user chooses its name, which may be that of a method of all objects. */
export function resourcesIn({ containers }: PodResourceInfo, name: string): ResourceRequirements | undefined {
  return Object.hasOwn(containers, name) ? containers[name] : undefined;
}

/** Whether both say the same; `1` and `1000m` do. */
function isSameRequirements(a: ResourceRequirements = {}, b: ResourceRequirements = {}): boolean {
  return isSameList(a.requests, b.requests) && isSameList(a.limits, b.limits);
}

function isSameList(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const [left, right] = [a[name], Object.hasOwn(b, name) ? b[name] : undefined];
    return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
  });
}
