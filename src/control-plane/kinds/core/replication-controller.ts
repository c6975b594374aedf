import type { FieldError } from "../../../api/field-error.ts";
import type { ReplicationControllerSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { forbidden, invalid, notNegative, required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { SCALE_SUBRESOURCE, statusSubresource } from "../subresource.ts";
import { defaultTemplate, validateTemplate } from "./pod/pod-template-spec.ts";
import { podTemplateWarnings } from "./pod/pod-warnings.ts";

/** Replication controllers. */
export const replicationControllerKind = defineKind({
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  maxValues: MAX_POD_VALUES,
  shortNames: ["rc"],
  categories: ["all"],
  strategy: {
    default: defaultController,
    prepareCreate: (object) => ({ ...object, status: { replicas: 0 } }),
    validate: validateController,
    warnings: (object) => podTemplateWarnings(specOf(object).template ?? {}, "spec.template."),
    generation: true,
    orphansByDefault: true,
    fields: { "status.replicas": (object) => String(typed("ReplicationController", object).status?.replicas ?? 0) },
  },
  subresources: [SCALE_SUBRESOURCE, statusSubresource("ReplicationController", validateStatusUpdate)],
});

const specOf = (object: KubeObject): ReplicationControllerSpec => typed("ReplicationController", object).spec ?? {};

/** Sets the defaults. A controller without a selector or labels takes those of its template. */
function defaultController(object: KubeObject): KubeObject {
  const { template, selector = {}, ...spec } = specOf(object);
  const labels = template?.metadata?.labels ?? {};
  const chosen = Object.keys(selector).length > 0 ? selector : labels;
  const own = object.metadata.labels ?? {};
  const isLabelled = Object.keys(own).length > 0 || Object.keys(labels).length === 0;
  return {
    ...object,
    metadata: isLabelled ? object.metadata : { ...object.metadata, labels },
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      ...(Object.keys(chosen).length > 0 && { selector: chosen }),
      ...(template && { template: defaultTemplate(template) }),
    },
  };
}

function validateController(object: KubeObject): FieldError[] {
  const { minReadySeconds, replicas, selector = {}, template } = specOf(object);
  return [
    ...notNegative("spec.minReadySeconds", minReadySeconds),
    ...(Object.keys(selector).length === 0 ? [required("spec.selector")] : []),
    ...notNegative("spec.replicas", replicas),
    ...(template === undefined ? [required("spec.template")] : validateSpecTemplate(specOf(object))),
  ];
}

function validateSpecTemplate({ selector = {}, template = {} }: ReplicationControllerSpec): FieldError[] {
  const path = "spec.template";
  const labels = template.metadata?.labels ?? {};
  const errors: FieldError[] = [];
  if (!Object.entries(selector).every(([label, value]) => labels[label] === value)) {
    errors.push(invalid(`${path}.metadata.labels`, labels, "`selector` does not match template `labels`"));
  }
  errors.push(...validateTemplate(path, template));
  const { restartPolicy = "", activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== "Always") errors.push(unsupported(`${path}.spec.restartPolicy`, restartPolicy, ["Always"]));
  if (activeDeadlineSeconds !== undefined) {
    const detail = "activeDeadlineSeconds in ReplicationController is not Supported";
    errors.push(forbidden(`${path}.spec.activeDeadlineSeconds`, detail));
  }
  return errors;
}

function validateStatusUpdate(next: KubeObject): FieldError[] {
  const { status = { replicas: 0 } } = typed("ReplicationController", next);
  const { replicas, readyReplicas = 0, availableReplicas = 0 } = status;
  const counts = [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
  ] as const;
  const errors = counts.flatMap((field) => notNegative(`status.${field}`, status[field]));
  for (const field of ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const) {
    const count = status[field] ?? 0;
    if (count > replicas) errors.push(invalid(`status.${field}`, count, "cannot be greater than status.replicas"));
  }
  if (availableReplicas > readyReplicas) {
    errors.push(invalid("status.availableReplicas", availableReplicas, "cannot be greater than readyReplicas"));
  }
  return errors;
}
