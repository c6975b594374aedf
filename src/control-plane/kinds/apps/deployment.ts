import type { FieldError } from "../../../api/field-error.ts";
import type { Deployment, DeploymentStrategy } from "../../../api/gen/types.ts";
import { forbidden, invalid, notNegative, required, unsupported } from "../../../api/validation/problems.ts";
import { validateTemplate } from "../core/pod/pod-template-spec.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { atMostAll, isZero, validateIntOrPercent } from "../rules/int-or-percent.ts";
import { defaultPodTemplate, validateLasting, validateSelection } from "../rules/pod-template.ts";
import { type StatusCounts, validateCounts } from "../rules/workload-status.ts";
import { SCALE_SUBRESOURCE } from "../subresource.ts";
import { strategyOf } from "../typed-strategy.ts";

const COUNTS: StatusCounts = {
  counts: [
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
  ],
  ofReplicas: ["updatedReplicas", "readyReplicas", "availableReplicas"],
  available: "readyReplicas",
};

export const deploymentKind = defineKind({
  group: "apps",
  kind: "Deployment",
  plural: "deployments",
  maxValues: MAX_POD_VALUES,
  shortNames: ["deploy"],
  categories: ["all"],
  status: true,
  validateStatus: (next, current) => validateCounts(COUNTS, next, current),
  subresources: [SCALE_SUBRESOURCE],
  strategy: strategyOf("Deployment", {
    // Replica sets get the annotations of their deployment.
    generation: "with annotations",
    initialStatus: {},
    warnings: ({ spec }) => podTemplateWarnings(spec?.template ?? {}, "spec.template."),
    default: setDefaults,
    validate: validateDeployment,
    validateUpdate: (next, current) => immutable("spec.selector", next.spec?.selector, current.spec?.selector),
  }),
});

function setDefaults({ spec }: Deployment): void {
  if (!spec) return;
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  spec.strategy ??= {};
  spec.strategy.type ||= "RollingUpdate";
  if (spec.strategy.type === "RollingUpdate") {
    spec.strategy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...spec.strategy.rollingUpdate };
  }
  defaultPodTemplate(spec.template);
}

function validateDeployment({ spec }: Deployment): FieldError[] {
  if (!spec) return [required("spec.selector"), required("spec.template.spec.containers")];
  const { selector, template, strategy = {}, minReadySeconds = 0, progressDeadlineSeconds } = spec;
  const errors = [
    ...notNegative("spec.replicas", spec.replicas),
    ...validateSelection({ kind: "deployment", selector, template }),
    ...validateTemplate("spec.template", template),
    ...validateLasting("ReplicaSet", template),
    ...validateStrategy("spec.strategy", strategy),
    ...notNegative("spec.minReadySeconds", minReadySeconds),
    ...notNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
    ...notNegative("spec.progressDeadlineSeconds", progressDeadlineSeconds),
  ];
  if (progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds) {
    const detail = "must be greater than minReadySeconds";
    errors.push(invalid("spec.progressDeadlineSeconds", progressDeadlineSeconds, detail));
  }
  return errors;
}

function validateStrategy(path: string, { type, rollingUpdate }: DeploymentStrategy): FieldError[] {
  if (type === "Recreate") {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return rollingUpdate ? [forbidden(`${path}.rollingUpdate`, detail)] : [];
  }
  if (type !== "RollingUpdate") return [unsupported(path, { type }, ["Recreate", "RollingUpdate"])];
  const { maxUnavailable, maxSurge } = rollingUpdate ?? {};
  const errors = [
    ...validateIntOrPercent(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable),
    ...validateIntOrPercent(`${path}.rollingUpdate.maxSurge`, maxSurge),
    ...atMostAll(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable),
  ];
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    const detail = "may not be 0 when `maxSurge` is 0";
    errors.push(invalid(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, detail));
  }
  return errors;
}
