import type { FieldError } from "../../../../api/field-error.ts";
import type { Container, Pod, PodSchedulingGate, PodSpec, Toleration } from "../../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../../api/object.ts";
import { each, forbidden, inRange, invalid, required } from "../../../../api/validation/problems.ts";
import { findChanges, formatChanges, isSame } from "../../rules/semantic-changes.ts";
import { validateNodeAffinityUpdate, validateNodeSelectorUpdate } from "./pod-gated-update.ts";
import { validateMirrorAnnotation } from "./pod-mirror-annotation.ts";

const MAX_INT32 = 2_147_483_647;

const UPDATABLE = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

/** The problems of an update. Only images, deadlines, tolerations and gates of a pod's spec may change. */
export function validatePodUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const spec = specOf(typed("Pod", next));
  const old = specOf(typed("Pod", current));
  const containers = validateContainers(spec, old);
  const annotation = validateMirrorAnnotation(next, current);
  if (containers.isFinal) return [...annotation, ...containers.errors];
  const deadline = validateDeadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds);
  return [
    ...annotation,
    ...containers.errors,
    ...deadline,
    ...validateTolerations(spec.tolerations ?? [], old.tolerations ?? []),
    ...validateSchedulingGates(spec.schedulingGates ?? [], old.schedulingGates ?? []),
    ...validateGated(spec, old),
    ...validateRest(spec, old),
  ];
}

const specOf = ({ spec = { containers: [] } }: Pod): PodSpec => spec;

/**
 * The problems of changed containers. When the containers themselves differ, a comparison of the rest would only repeat
 * them.
 */
function validateContainers(spec: PodSpec, old: PodSpec): { errors: FieldError[]; isFinal: boolean } {
  const errors: FieldError[] = [];
  for (const field of ["containers", "initContainers"] as const) {
    const [containers, before] = [spec[field] ?? [], old[field] ?? []];
    if (containers.length !== before.length) {
      errors.push(forbidden(`spec.${field}`, "pod updates may not add or remove containers"));
      return { errors, isFinal: true };
    }
    errors.push(...each(`spec.${field}`, containers, validateImage));
  }
  return { errors, isFinal: false };
}

function validateImage({ image = "" }: Container, path: string): FieldError[] {
  if (image === "") return [required(`${path}.image`)];
  if (image.trim() === image) return [];
  return [invalid(`${path}.image`, image, "must not have leading or trailing whitespace")];
}

function validateDeadline(next: number | undefined, old: number | undefined): FieldError[] {
  const path = "spec.activeDeadlineSeconds";
  if (next === undefined) {
    return old === undefined ? [] : [invalid(path, null, "must not update from a positive integer to nil value")];
  }
  const errors = inRange(path, next, [0, MAX_INT32]);
  if (errors.length > 0 || old === undefined || next <= old) return errors;
  return [invalid(path, next, "must be less than or equal to previous value")];
}

/** The problems of changed tolerations. Tolerations may be added, and the seconds of an existing one may change. */
function validateTolerations(next: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const isKept = old.every((toleration) =>
    next.some((candidate) => isSame(withoutSeconds(toleration), withoutSeconds(candidate))),
  );
  if (isKept) return [];
  return [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

function withoutSeconds({ tolerationSeconds: _any, ...toleration }: Toleration): Toleration {
  return toleration;
}

function validateSchedulingGates(next: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[]): FieldError[] {
  const known = new Set(old.map(({ name }) => name));
  return next.flatMap(({ name }, index) => {
    if (known.has(name)) return [];
    return [
      forbidden(
        `spec.schedulingGates[${index}].name`,
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    ];
  });
}

const isGated = ({ schedulingGates = [] }: PodSpec) => schedulingGates.length > 0;

/**
 * The problems of changes that are allowed while the pod is gated. No scheduler has looked for a node yet, so the nodes
 * on which it may run can still be narrowed.
 */
function validateGated(spec: PodSpec, old: PodSpec): FieldError[] {
  if (!isGated(old)) return [];
  return [
    ...validateNodeSelectorUpdate("spec.nodeSelector", spec.nodeSelector, old.nodeSelector),
    ...validateNodeAffinityUpdate(
      "spec.affinity.nodeAffinity",
      spec.affinity?.nodeAffinity,
      old.affinity?.nodeAffinity,
    ),
  ];
}

function validateRest(spec: PodSpec, old: PodSpec): FieldError[] {
  const changes = findChanges(comparable(old, old), comparable(spec, old), "spec");
  if (changes.length === 0) return [];
  return [forbidden("spec", `pod updates may not change fields other than ${UPDATABLE}\n${formatChanges(changes)}`)];
}

/** The spec without the fields that are judged separately. */
function comparable(spec: PodSpec, old: PodSpec): PodSpec {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
  const compared: PodSpec = { ...rest, containers: spec.containers.map(withoutImage) };
  if (spec.initContainers) compared.initContainers = spec.initContainers.map(withoutImage);
  const wasNegative = (old.terminationGracePeriodSeconds ?? 0) < 0;
  if (wasNegative && (spec === old || spec.terminationGracePeriodSeconds === 1)) {
    delete compared.terminationGracePeriodSeconds;
  }
  if (isGated(old)) {
    delete compared.nodeSelector;
    const { nodeAffinity: _affinity, ...affinity } = spec.affinity ?? {};
    compared.affinity = affinity;
  }
  return compared;
}

function withoutImage({ image: _image, ...container }: Container): Container {
  return container;
}
