import type { FieldError } from "../../../../api/field-error.ts";
import type { Container, EphemeralContainer, Pod, PodSpec } from "../../../../api/gen/types.ts";
import { validatePod } from "../../../../api/validate-pod.ts";
import { each, forbidden, notFound } from "../../../../api/validation/problems.ts";

/**
 * The problems of an existing pod. It checks as `validatePod` does, and also checks ephemeral containers, which may
 * have fewer fields than other containers.
 */
export function validateExistingPod(pod: Pod): FieldError[] {
  const { spec = { containers: [] } } = pod;
  const { ephemeralContainers = [], ...rest } = spec;
  if (ephemeralContainers.length === 0) return validatePod(pod);
  const containers = [...rest.containers, ...ephemeralContainers.map(plainContainer)];
  const errors = validatePod({ ...pod, spec: { ...rest, containers } });
  return [
    ...errors.map((error) => ({ ...error, path: placeOf(error.path, rest.containers.length) })),
    ...validateOwnRules(spec),
  ];
}

function plainContainer({ targetContainerName: _target, ...container }: EphemeralContainer): Container {
  return container;
}

/** The path of an error in an ephemeral container, which was appended to the main containers for the check. */
function placeOf(path: string, mainContainers: number): string {
  return path.replace(/^spec\.containers\[(\d+)\]/, (place, index) => {
    const offset = Number(index) - mainContainers;
    return offset < 0 ? place : `spec.ephemeralContainers[${offset}]`;
  });
}

/**
 * The fields that ephemeral containers may not have. They are for inspection, so nothing waits for them and no room is
 * reserved for them.
 */
const NOT_ALLOWED = [
  "lifecycle",
  "livenessProbe",
  "ports",
  "readinessProbe",
  "resizePolicy",
  "resources",
  "restartPolicy",
  "startupProbe",
] as const;

const NOT_FOR_EPHEMERAL = "cannot be set for an Ephemeral Container";

function validateOwnRules({ ephemeralContainers, containers, initContainers = [] }: PodSpec): FieldError[] {
  const names = new Set([...containers, ...initContainers].map(({ name }) => name));
  return each("spec.ephemeralContainers", ephemeralContainers, (container, path) => {
    const { targetContainerName: target = "", volumeMounts } = container;
    const fields = NOT_ALLOWED.filter((field) => !isUnset(container[field]));
    return [
      ...(target !== "" && !names.has(target) ? [notFound(`${path}.targetContainerName`, target)] : []),
      ...fields.map((field) => forbidden(`${path}.${field}`, NOT_FOR_EPHEMERAL)),
      ...each(`${path}.volumeMounts`, volumeMounts, ({ subPath, subPathExpr }, place) => [
        ...(subPath ? [forbidden(`${place}.subPath`, NOT_FOR_EPHEMERAL)] : []),
        ...(subPathExpr ? [forbidden(`${place}.subPathExpr`, NOT_FOR_EPHEMERAL)] : []),
      ]),
    ];
  });
}

/** True for an absent value. Go clients write empty resources. */
function isUnset(value: EphemeralContainer[(typeof NOT_ALLOWED)[number]]): boolean {
  return value === undefined || value === "" || Object.keys(value).length === 0;
}
