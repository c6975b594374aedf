import type { FieldError } from "../../../../api/field-error.ts";
import type { Container, Pod, PodSpec, ResourceRequirements } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { isMirrorPod, isRestartableInitContainer } from "../../../../api/pods.ts";
import { computeQosClass } from "../../../../api/qos.ts";
import { forbidden, invalid } from "../../../../api/validation/problems.ts";
import { isSame } from "../../rules/semantic-changes.ts";
import { partMetadata } from "./pod-ephemeral-containers.ts";

/**
 * The current pod with the resources of the next one, and the resize policies of its containers. Validation refuses a list
 * in which containers were added, removed or moved.
 */
export function takeResize(next: KubeObject, current: KubeObject): KubeObject {
  const pod = typed("Pod", current);
  const { resources: _own, ...old } = pod.spec ?? { containers: [] };
  const { spec = { containers: [] } } = typed("Pod", next);
  const initContainers = takeContainers(spec.initContainers ?? [], old.initContainers ?? []);
  const taken: PodSpec = {
    ...old,
    containers: takeContainers(spec.containers, old.containers),
    ...(initContainers.length > 0 && { initContainers }),
    ...(spec.resources && { resources: spec.resources }),
  };
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

/** The problems of a resize. CPU and memory of running containers and of the pod may change, but not its QoS class. */
export function validateResize(next: KubeObject, current: KubeObject): FieldError[] {
  const pod = typed("Pod", next);
  const old = typed("Pod", current);
  const refusal = refusalOf(old);
  if (refusal !== undefined) return [forbidden("", refusal)];
  const errors: FieldError[] = [];
  if ((old.status?.qosClass ?? computeQosClass(old)) !== computeQosClass(pod)) {
    errors.push(invalid("spec", old.status?.qosClass, "Pod QOS Class may not change as a result of resizing"));
  }
  if (!isResizeSupported(old)) errors.push(forbidden("spec", "Pod running on node without support for resize"));
  const { spec = { containers: [] } } = pod;
  const { spec: before = { containers: [] } } = old;
  errors.push(...validatePodResources(spec.resources, before.resources), ...validateOrder(spec, before));
  if (errors.some(({ message }) => message.includes("on resize"))) return errors;
  return [
    ...errors,
    ...validateInitContainers(spec, before),
    ...validateContainers(spec.containers, before.containers),
  ];
}

function refusalOf(old: Pod): string | undefined {
  if (isMirrorPod(old)) return "static pods cannot be resized";
  return old.spec?.os?.name === "windows" ? "windows pods cannot be resized" : undefined;
}

/** Resources of a pod as a whole may be added, and their amounts may change (upstream: `validatePodLevelResourcesResize`). */
function validatePodResources(
  next: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
): FieldError[] {
  if (next === undefined)
    return old === undefined ? [] : [forbidden("spec.resources", "pod-level resources cannot be removed")];
  const problems = (["requests", "limits"] as const).flatMap((list) =>
    isRemoved(next[list], old?.[list])
      ? [forbidden(`spec.resources.${list}`, `pod-level resource ${list} cannot be removed`)]
      : [],
  );
  const isAllowed = isSame(withoutResizableAmounts(next), withoutResizableAmounts(old));
  return [
    ...problems,
    ...(isAllowed ? [] : [forbidden("spec", "only cpu and memory resources are mutable at pod-level")]),
  ];
}

function validateOrder(spec: PodSpec, old: PodSpec): FieldError[] {
  return (["containers", "initContainers"] as const).flatMap((list) => {
    const [now, before] = [spec[list] ?? [], old[list] ?? []];
    if (now.length !== before.length) {
      return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
    }
    const detail = `${list} may not be renamed or reordered on resize`;
    return now.flatMap(({ name }, index) =>
      name === before[index]?.name ? [] : [forbidden(`spec.${list}[${index}].name`, detail)],
    );
  });
}

/** True when the pod's node supports a resize: such a node reports the resources of its running containers. */
function isResizeSupported({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function validateContainers(containers: readonly Container[], before: readonly Container[]): FieldError[] {
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

function validateInitContainers(
  { initContainers = [] }: PodSpec,
  { initContainers: before = [] }: PodSpec,
): FieldError[] {
  return initContainers.flatMap((container, index) => {
    const old = before[index];
    if (old === undefined) return [];
    const path = `spec.initContainers[${index}]`;
    const isAllowed = isSame(withoutResizable(old), withoutResizable(container));
    const mayRestart = isRestartableInitContainer(old) || isSame(old, container);
    const restarts = container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === "RestartContainer") === true;
    return [
      ...validateRemovals(`${path}.resources`, container.resources, old.resources),
      ...(isAllowed
        ? []
        : [forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable")]),
      ...(mayRestart || !restarts
        ? []
        : [forbidden(path, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized")]),
    ];
  });
}

function validateRemovals(path: string, next: ResourceRequirements = {}, old: ResourceRequirements = {}): FieldError[] {
  return (["requests", "limits"] as const).flatMap((list) =>
    isRemoved(next[list], old[list]) ? [forbidden(`${path}.${list}`, `resource ${list} cannot be removed`)] : [],
  );
}

function isRemoved(next: Record<string, string> = {}, old: Record<string, string> = {}): boolean {
  return Object.keys(old).some((name) => next[name] === undefined);
}

/** The container without the fields that a resize may change. */
function withoutResizable({ resizePolicy: _policy, resources, ...container }: Container): Container {
  return { ...container, resources: withoutResizableAmounts(resources) };
}

function withoutResizableAmounts(resources: ResourceRequirements = {}): ResourceRequirements {
  return {
    ...resources,
    limits: withoutCpuAndMemory(resources.limits),
    requests: withoutCpuAndMemory(resources.requests),
  };
}

function withoutCpuAndMemory({
  cpu: _cpu,
  memory: _memory,
  ...others
}: Record<string, string> = {}): Record<string, string> {
  return others;
}
