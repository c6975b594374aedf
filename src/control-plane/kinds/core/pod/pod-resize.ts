import type { FieldError } from "../../../../api/field-error.ts";
import type { Container, Pod, PodSpec, ResourceRequirements } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { isMirrorPod, isRestartableInitContainer } from "../../../../api/pods.ts";
import { computeQosClass } from "../../../../api/qos.ts";
import { hasPodLevelResources } from "../../../../api/resources.ts";
import { forbidden, invalid } from "../../../../api/validation/problems.ts";
import { isSame } from "../../rules/semantic-changes.ts";
import { partMetadata } from "./pod-ephemeral-containers.ts";

/**
 * The current pod with the resources and resize policies of the next one's containers. Validation refuses a list in
 * which containers were added, removed or moved.
 */
export function takeResize(next: KubeObject, current: KubeObject): KubeObject {
  const pod = typed("Pod", current);
  const { spec: old = { containers: [] } } = pod;
  const { spec = { containers: [] } } = typed("Pod", next);
  const initContainers = takeContainers(spec.initContainers ?? [], old.initContainers ?? []);
  const taken: PodSpec = { ...old, containers: takeContainers(spec.containers, old.containers) };
  if (initContainers.length > 0) taken.initContainers = initContainers;
  // A change of the pod's own resources is kept only so that validation refuses it.
  if (!isSame(spec.resources, old.resources) && spec.resources) taken.resources = spec.resources;
  return untyped({ ...pod, metadata: partMetadata(next, current), spec: taken });
}

function takeContainers(next: Container[], current: Container[]): Container[] {
  const isSameList = next.length === current.length && next.every(({ name }, index) => current[index]?.name === name);
  if (!isSameList) return next;
  return current.map(({ resources: _old, resizePolicy: _policy, ...container }, index) => {
    const { resources, resizePolicy } = next[index] ?? {};
    return { ...container, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

/** The problems of a resize. CPU and memory of running containers may change, but not the pod's QoS class. */
export function validateResize(next: KubeObject, current: KubeObject): FieldError[] {
  const pod = typed("Pod", next);
  const old = typed("Pod", current);
  const refusal = refusalOf(pod, old);
  if (refusal !== undefined) return [forbidden("", refusal)];
  const errors: FieldError[] = [];
  if ((old.status?.qosClass ?? computeQosClass(old)) !== computeQosClass(pod)) {
    errors.push(invalid("spec", old.status?.qosClass, "Pod QOS Class may not change as a result of resizing"));
  }
  if (!isResizeSupported(old)) errors.push(forbidden("spec", "Pod running on node without support for resize"));
  const { spec = { containers: [] } } = pod;
  const { spec: before = { containers: [] } } = old;
  errors.push(...validateContainers(spec.containers, before.containers), ...validateInitContainers(spec, before));
  return errors;
}

function refusalOf(pod: Pod, old: Pod): string | undefined {
  if (hasPodLevelResources(old) || hasPodLevelResources(pod)) return "pods with pod-level resources cannot be resized";
  if (isMirrorPod(old)) return "static pods cannot be resized";
  return old.spec?.os?.name === "windows" ? "windows pods cannot be resized" : undefined;
}

/** True when the pod's node supports a resize: such a node reports the resources of its running containers. */
function isResizeSupported({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function validateContainers(containers: readonly Container[], before: readonly Container[]): FieldError[] {
  if (containers.length !== before.length) return [forbidden("spec", "only cpu and memory resources are mutable")];
  return containers.flatMap((container, index) => {
    const old = before[index];
    if (old === undefined) return [];
    const isAllowed = isSame(withoutResizable(old), withoutResizable(container));
    return [
      ...validateRemovals(`spec.containers[${index}].resources`, container.resources, old.resources),
      ...(isAllowed ? [] : [forbidden("spec", "only cpu and memory resources are mutable")]),
    ];
  });
}

function validateInitContainers(spec: PodSpec, old: PodSpec): FieldError[] {
  const [containers, before] = [spec.initContainers ?? [], old.initContainers ?? []];
  if (containers.length !== before.length)
    return [forbidden("spec", "resources for non-sidecar init containers are immutable")];
  return containers.flatMap((container, index) => {
    const past = before[index];
    if (past === undefined) return [];
    if (!isRestartableInitContainer(past)) {
      const detail = "resources for non-sidecar init containers are immutable";
      return isSame(past, container) ? [] : [forbidden("spec", detail)];
    }
    const isAllowed = isSame(withoutResizable(past), withoutResizable(container));
    return [
      ...validateRemovals(`spec.initContainers[${index}].resources`, container.resources, past.resources),
      ...(isAllowed ? [] : [forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")]),
    ];
  });
}

function validateRemovals(path: string, next: ResourceRequirements = {}, old: ResourceRequirements = {}): FieldError[] {
  return (["requests", "limits"] as const).flatMap((list) => {
    const isRemoved = Object.keys(old[list] ?? {}).some((name) => next[list]?.[name] === undefined);
    return isRemoved ? [forbidden(`${path}.${list}`, `resource ${list} cannot be removed`)] : [];
  });
}

/** The container without the fields that a resize may change. */
function withoutResizable({ resizePolicy: _policy, resources, ...container }: Container): Container {
  return {
    ...container,
    resources: {
      ...resources,
      limits: withoutCpuAndMemory(resources?.limits),
      requests: withoutCpuAndMemory(resources?.requests),
    },
  };
}

function withoutCpuAndMemory({
  cpu: _cpu,
  memory: _memory,
  ...others
}: Record<string, string> = {}): Record<string, string> {
  return others;
}
