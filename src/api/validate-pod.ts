import type { FieldError } from "./field-error.ts";
import type { Pod, PodSpec } from "./gen/types.ts";
import { validateAffinity } from "./validation/affinity.ts";
import { validateContainers } from "./validation/containers.ts";
import { validateLabels, validateMetadata } from "./validation/metadata.ts";
import { checkDnsSubdomain, checkQualifiedName } from "./validation/names.ts";
import { validateNetworking } from "./validation/networking.ts";
import { each, inRange, invalidEach, oneOf, optionalOneOf, required } from "./validation/problems.ts";
import { validateResourceClaims } from "./validation/resource-claims.ts";
import { validatePodLevelResources } from "./validation/resources.ts";
import { validateSchedulingGates, validateTolerations, validateTopologySpread } from "./validation/scheduling.ts";
import { validatePodSecurity } from "./validation/security.ts";
import { validateVolumes } from "./validation/volumes.ts";
import { validateHostProcess } from "./validation/windows-host-process.ts";

/** Problems beyond this number are left out; a last entry says so. */
const MAX_PROBLEMS = 50;
const MAX_INT32 = 2_147_483_647;

/**
 * Returns what kube-apiserver would refuse in a new pod, in its words; nothing when the pod is valid. The pod must have
 * been defaulted (`defaultPod`) and named, because fields that defaulting sets are required here. Fields that only a
 * scheduler or another platform acts on are checked as far as a node notices them.
 */
export function validatePod(pod: Pod): FieldError[] {
  const { metadata = {}, spec = { containers: [] } } = pod;
  const errors = [...validateMetadata(metadata), ...validateSpec(pod, spec)];
  if (errors.length <= MAX_PROBLEMS) return errors;
  const rest = { path: "", message: `${errors.length - MAX_PROBLEMS} more problems are not shown` };
  return [...errors.slice(0, MAX_PROBLEMS), rest];
}

function validateSpec(pod: Pod, spec: PodSpec): FieldError[] {
  return [
    ...validateVolumes("spec.volumes", spec),
    ...validateResourceClaims("spec.resourceClaims", pod),
    ...validateContainers(spec),
    ...oneOf("spec.restartPolicy", spec.restartPolicy, ["Always", "OnFailure", "Never"]),
    ...inRange("spec.activeDeadlineSeconds", spec.activeDeadlineSeconds, [1, MAX_INT32]),
    ...validateNetworking(spec),
    ...validatePodSecurity("spec.securityContext", spec),
    ...validateHostProcess("spec", spec),
    ...validatePodLevelResources("spec.resources", pod),
    ...validateLabels("spec.nodeSelector", spec.nodeSelector),
    ...validateTolerations("spec.tolerations", spec.tolerations),
    ...validateTopologySpread("spec.topologySpreadConstraints", spec.topologySpreadConstraints),
    ...validateAffinity("spec.affinity", spec.affinity),
    ...validateSchedulingGates("spec.schedulingGates", spec.schedulingGates),
    ...validateReferences(spec),
  ];
}

function validateReferences(spec: PodSpec): FieldError[] {
  const { serviceAccountName = "", nodeName = "", runtimeClassName, priorityClassName = "" } = spec;
  const names = { serviceAccountName, nodeName, priorityClassName };
  const errors = Object.entries(names).flatMap(([field, name]) => {
    return name === "" ? [] : invalidEach(`spec.${field}`, name, checkDnsSubdomain(name));
  });
  if (runtimeClassName !== undefined) {
    errors.push(...invalidEach("spec.runtimeClassName", runtimeClassName, checkDnsSubdomain(runtimeClassName)));
  }
  const gates = each("spec.readinessGates", spec.readinessGates, ({ conditionType }, path) => {
    return invalidEach(`${path}.conditionType`, conditionType, checkQualifiedName(conditionType));
  });
  const { os, preemptionPolicy } = spec;
  return [
    ...errors,
    ...gates,
    ...(os ? validateOs(os.name) : []),
    ...optionalOneOf("spec.preemptionPolicy", preemptionPolicy, ["PreemptLowerPriority", "Never"]),
  ];
}

/** As upstream has it, the path of a missing name ends with `name`, and the path of a wrong one does not. */
function validateOs(name: string): FieldError[] {
  if (name === "") return [required("spec.os.name")];
  return optionalOneOf("spec.os", name, ["linux", "windows"]);
}
