import type { FieldError } from "../../../api/field-error.ts";
import type { Container, JobSpec, JobStatus, PodSpec, PodTemplateSpec } from "../../../api/gen/types.ts";
import { immutable } from "../rules/immutable.ts";

/**
 * True while a queue may change where the job's pods should run and what they may use: it is suspended, and has no pods
 * (upstream: `shouldAllowMutablePodTemplate`).
 */
export function isTemplateOpen(
  { suspend }: JobSpec,
  { startTime, active = 0, conditions = [] }: JobStatus = {},
): boolean {
  if (suspend !== true || active > 0) return false;
  return startTime === undefined || conditions.some(({ type, status }) => type === "Suspended" && status === "True");
}

interface TemplateChange {
  readonly next: PodTemplateSpec;
  readonly current: PodTemplateSpec;
  readonly isOpen: boolean;
}

/** The problems of a changed template: all of it is fixed, or all but scheduling, resources, labels and annotations. */
export function validateTemplateChange({ next, current, isOpen }: TemplateChange): FieldError[] {
  if (!isOpen) return immutable("spec.template", next, current);
  const before = withResources(withScheduling(current.spec, next.spec), next.spec);
  return immutable("spec.template.spec", next.spec, before);
}

const NO_SPEC: PodSpec = { containers: [] };

/** The current spec with the scheduling fields of the next one. */
function withScheduling(current = NO_SPEC, next = NO_SPEC): PodSpec {
  const {
    affinity: _affinity,
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    ...spec
  } = current;
  const { affinity, nodeSelector, tolerations, schedulingGates } = next;
  const { nodeAffinity: _before, ...otherAffinity } = current.affinity ?? {};
  const { nodeAffinity } = affinity ?? {};
  return {
    ...spec,
    affinity: { ...otherAffinity, ...(nodeAffinity && { nodeAffinity }) },
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(schedulingGates && { schedulingGates }),
  };
}

/** The current spec with the resources of the next one's containers. */
function withResources(current: PodSpec, { containers, initContainers }: PodSpec = NO_SPEC): PodSpec {
  return {
    ...current,
    containers: takeResources(current.containers, containers),
    ...(current.initContainers && { initContainers: takeResources(current.initContainers, initContainers) }),
  };
}

/** A list of another length has more than its resources changed. */
function takeResources(current: readonly Container[], next: readonly Container[] = []): Container[] {
  if (current.length !== next.length) return [...current];
  return current.map((container, index) => {
    const { resources: _resources, ...others } = container;
    const other = next[index];
    if (other === undefined || other.name !== container.name) return container;
    return { ...others, ...(other.resources && { resources: other.resources }) };
  });
}
