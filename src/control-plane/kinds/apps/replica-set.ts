import type { FieldError } from "../../../api/field-error.ts";
import type { ReplicaSet } from "../../../api/gen/types.ts";
import { notNegative, required } from "../../../api/validation/problems.ts";
import { validateTemplate } from "../core/pod/pod-template-spec.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { defaultPodTemplate, validateLasting, validateSelection } from "../rules/pod-template.ts";
import { type StatusCounts, validateCounts } from "../rules/workload-status.ts";
import { SCALE_SUBRESOURCE } from "../subresource.ts";
import { strategyOf } from "../typed-strategy.ts";

const COUNTS: StatusCounts = {
  counts: ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas"],
  ofReplicas: ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
  available: "readyReplicas",
};

export const replicaSetKind = defineKind({
  group: "apps",
  kind: "ReplicaSet",
  plural: "replicasets",
  maxValues: MAX_POD_VALUES,
  shortNames: ["rs"],
  categories: ["all"],
  status: true,
  validateStatus: (next, current) => validateCounts(COUNTS, next, current),
  subresources: [SCALE_SUBRESOURCE],
  strategy: strategyOf("ReplicaSet", {
    generation: true,
    initialStatus: { replicas: 0 },
    fields: { "status.replicas": ({ status }) => `${status?.replicas ?? 0}` },
    warnings: ({ spec }) => podTemplateWarnings(spec?.template ?? {}, "spec.template."),
    default({ spec }) {
      if (!spec) return;
      spec.replicas ??= 1;
      if (spec.template) defaultPodTemplate(spec.template);
    },
    validate: validateReplicaSet,
    validateUpdate: (next, current) => immutable("spec.selector", next.spec?.selector, current.spec?.selector),
  }),
});

function validateReplicaSet({ spec }: ReplicaSet): FieldError[] {
  if (!spec) return [required("spec.selector"), required("spec.template")];
  const { selector, template, replicas, minReadySeconds } = spec;
  const errors = [...notNegative("spec.replicas", replicas), ...notNegative("spec.minReadySeconds", minReadySeconds)];
  if (!template) return [...errors, required("spec.template")];
  return [
    ...errors,
    ...validateSelection({ kind: "replicaset", selector, template }),
    ...validateTemplate("spec.template", template),
    ...validateLasting("ReplicaSet", template),
  ];
}
