import type { FieldError } from "../../../api/field-error.ts";
import type { StatefulSet, StatefulSetSpec } from "../../../api/gen/types.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import { forbidden, invalid, notNegative, oneOf, required } from "../../../api/validation/problems.ts";
import { podTemplateWarnings } from "../core/pod-warnings.ts";
import { isSame } from "../core/semantic-changes.ts";
import { SCALE_SUBRESOURCE } from "../core/subresource.ts";
import { defineKind } from "../define-kind.ts";
import { atMostAll, isZero, validateIntOrPercent } from "./int-or-percent.ts";
import { defaultPodTemplate, validateLasting, validateSelection, validateTemplateMetadata } from "./pod-template.ts";
import { strategyOf } from "./typed-strategy.ts";

export const STATEFUL_SETS = defineKind({
  group: "apps",
  kind: "StatefulSet",
  plural: "statefulsets",
  shortNames: ["sts"],
  categories: ["all"],
  status: true,
  subresources: [SCALE_SUBRESOURCE],
  strategy: strategyOf("StatefulSet", {
    generation: true,
    initialStatus: { replicas: 0, availableReplicas: 0 },
    checkName: checkDnsLabel,
    warnings: ({ spec }) => podTemplateWarnings(spec?.template ?? {}, "spec.template."),
    default: setDefaults,
    validate: ({ spec }) => (spec ? validateSpec(spec) : [required("spec.selector")]),
    validateUpdate: validateChange,
  }),
});

const RETAIN = { whenDeleted: "Retain", whenScaled: "Retain" };

function setDefaults({ spec }: StatefulSet): void {
  if (!spec) return;
  spec.podManagementPolicy ||= "OrderedReady";
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ||= "RollingUpdate";
  if (spec.updateStrategy.type === "RollingUpdate") {
    spec.updateStrategy.rollingUpdate = { partition: 0, ...spec.updateStrategy.rollingUpdate };
  }
  spec.persistentVolumeClaimRetentionPolicy = { ...RETAIN, ...spec.persistentVolumeClaimRetentionPolicy };
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ||= "v1";
    claim.kind ||= "PersistentVolumeClaim";
    claim.spec ??= {};
    claim.spec.volumeMode ||= "Filesystem";
    claim.status = { phase: "Pending", ...claim.status };
  }
}

function validateSpec(spec: StatefulSetSpec): FieldError[] {
  const { selector, template, podManagementPolicy = "" } = spec;
  const retention = spec.persistentVolumeClaimRetentionPolicy ?? {};
  const path = "spec.persistentVolumeClaimRetentionPolicy";
  const errors: FieldError[] = [];
  if (!["OrderedReady", "Parallel"].includes(podManagementPolicy)) {
    errors.push(invalid("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  }
  return [
    ...errors,
    ...validateUpdateStrategy(spec),
    ...oneOf(`${path}.whenDeleted`, retention.whenDeleted, ["Retain", "Delete"]),
    ...oneOf(`${path}.whenScaled`, retention.whenScaled, ["Retain", "Delete"]),
    ...notNegative("spec.replicas", spec.replicas),
    ...notNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...notNegative("spec.ordinals.start", spec.ordinals?.start),
    ...notNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
    ...validateSelection({ kind: "statefulset", selector, template }),
    ...validateTemplateMetadata("spec.template", template),
    ...validateLasting("StatefulSet", template),
  ];
}

function validateUpdateStrategy({ updateStrategy = {} }: StatefulSetSpec): FieldError[] {
  const { type = "", rollingUpdate } = updateStrategy;
  const path = "spec.updateStrategy";
  if (type === "OnDelete") {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    return rollingUpdate ? [invalid(`${path}.rollingUpdate`, rollingUpdate, detail)] : [];
  }
  if (type !== "RollingUpdate") return [invalid(path, updateStrategy, "must be 'RollingUpdate' or 'OnDelete'")];
  const { partition, maxUnavailable } = rollingUpdate ?? {};
  const errors = notNegative(`${path}.rollingUpdate.partition`, partition);
  if (maxUnavailable === undefined) return errors;
  const at = `${path}.rollingUpdate.maxUnavailable`;
  errors.push(...validateIntOrPercent(at, maxUnavailable));
  if (isZero(maxUnavailable)) errors.push(invalid(at, maxUnavailable, "cannot be 0"));
  return [...errors, ...atMostAll(at, maxUnavailable)];
}

/** As upstream lists them in its message, and the history limit, which it forgets to. */
const CHANGEABLE = {
  replicas: undefined,
  ordinals: undefined,
  template: undefined,
  updateStrategy: undefined,
  revisionHistoryLimit: undefined,
  persistentVolumeClaimRetentionPolicy: undefined,
  minReadySeconds: undefined,
};

function validateChange({ spec }: StatefulSet, { spec: current }: StatefulSet): FieldError[] {
  if (isSame({ ...current, ...CHANGEABLE }, { ...spec, ...CHANGEABLE })) return [];
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbidden("spec", detail)];
}
