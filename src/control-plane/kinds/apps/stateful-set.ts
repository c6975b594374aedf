import type { FieldError } from "../../../api/field-error.ts";
import type { PodTemplateSpec, StatefulSet, StatefulSetSpec } from "../../../api/gen/types.ts";
import { validateClaimSpec } from "../../../api/validation/claim.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import {
  each,
  forbidden,
  invalid,
  invalidEach,
  notNegative,
  optionalOneOf,
  required,
} from "../../../api/validation/problems.ts";
import { validateTemplate } from "../core/pod/pod-template-spec.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { defaultPodTemplate, validateLasting, validateSelection } from "../rules/pod-template.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { type StatusCounts, validateCounts } from "../rules/workload-status.ts";
import { SCALE_SUBRESOURCE } from "../subresource.ts";
import { strategyOf } from "../typed-strategy.ts";

const COUNTS: StatusCounts = {
  counts: ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
  ofReplicas: ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
  available: "status.readyReplicas",
};

export const statefulSetKind = defineKind({
  group: "apps",
  kind: "StatefulSet",
  plural: "statefulsets",
  maxValues: MAX_POD_VALUES,
  shortNames: ["sts"],
  categories: ["all"],
  status: true,
  validateStatus: (next, current) => validateCounts(COUNTS, next, current),
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

function setDefaults({ spec }: StatefulSet): void {
  if (!spec) return;
  spec.podManagementPolicy ||= "OrderedReady";
  spec.updateStrategy ??= {};
  const { updateStrategy } = spec;
  const isUnsaid = !updateStrategy.type;
  updateStrategy.type ||= "RollingUpdate";
  if (updateStrategy.type === "RollingUpdate" && (isUnsaid || updateStrategy.rollingUpdate)) {
    // Upstream's gate of `maxUnavailable` is closed, and fields behind a closed gate are dropped.
    const { maxUnavailable: _gated, ...rollingUpdate } = updateStrategy.rollingUpdate ?? {};
    updateStrategy.rollingUpdate = { partition: 0, ...rollingUpdate };
  }
  const { whenDeleted, whenScaled } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  spec.persistentVolumeClaimRetentionPolicy = {
    whenDeleted: whenDeleted || "Retain",
    whenScaled: whenScaled || "Retain",
  };
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ||= "v1";
    claim.kind ||= "PersistentVolumeClaim";
    claim.spec ??= {};
    claim.metadata ??= {};
    claim.spec.resources ??= {};
    claim.spec.volumeMode ||= "Filesystem";
    claim.status = { phase: "Pending", ...claim.status };
  }
}

function validateSpec(spec: StatefulSetSpec): FieldError[] {
  const { selector, template, serviceName = "", podManagementPolicy = "" } = spec;
  const retention = spec.persistentVolumeClaimRetentionPolicy ?? {};
  const path = "spec.persistentVolumeClaimRetentionPolicy";
  const errors: FieldError[] = [];
  if (!["OrderedReady", "Parallel"].includes(podManagementPolicy)) {
    errors.push(invalid("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  }
  return [
    ...errors,
    ...validateUpdateStrategy(spec),
    ...optionalOneOf(`${path}.whenDeleted`, retention.whenDeleted, ["Retain", "Delete"]),
    ...optionalOneOf(`${path}.whenScaled`, retention.whenScaled, ["Retain", "Delete"]),
    ...each("spec.volumeClaimTemplates", spec.volumeClaimTemplates, (claim, at) => {
      return validateClaimSpec(`${at}.spec`, claim.spec ?? {});
    }),
    ...notNegative("spec.replicas", spec.replicas),
    ...notNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...notNegative("spec.ordinals.start", spec.ordinals?.start),
    ...(serviceName === "" ? [] : invalidEach("spec.serviceName", serviceName, checkDnsLabel(serviceName))),
    ...validateSelection({ kind: "statefulset", selector, template }),
    ...validateTemplate("spec.template", withClaims(spec)),
    ...validateLasting("StatefulSet", template),
  ];
}

/**
 * The template as the controller completes it for a pod of the set: with a name, and with the volumes of the claims
 * that are made for it.
 */
function withClaims({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  if (template.spec === undefined) return template;
  const { hostname: _hostname, subdomain: _subdomain, volumes: own = [], ...spec } = template.spec;
  const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ""));
  const claimed = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...spec, volumes: [...claimed, ...own.filter(({ name }) => !names.has(name))] } };
}

function validateUpdateStrategy({ updateStrategy = {} }: StatefulSetSpec): FieldError[] {
  const { type = "", rollingUpdate } = updateStrategy;
  const path = "spec.updateStrategy";
  if (type === "OnDelete") {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    return rollingUpdate ? [invalid(`${path}.rollingUpdate`, rollingUpdate, detail)] : [];
  }
  if (type !== "RollingUpdate") return [invalid(path, updateStrategy, "must be 'RollingUpdate' or 'OnDelete'")];
  return notNegative(`${path}.rollingUpdate.partition`, rollingUpdate?.partition);
}

/** The fields that may change, in the order of upstream's message, which forgets the history limit. */
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
