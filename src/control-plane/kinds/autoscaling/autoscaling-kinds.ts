import type { FieldError } from "../../../api/field-error.ts";
import type { CrossVersionObjectReference, HorizontalPodAutoscaler, HPAScalingRules } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import { each, invalid, optionalOneOf, required, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";
import {
  fromFormerAutoscaler,
  keepFormerStatus,
  takeFormerStatus,
  toFormerAutoscaler,
  withoutFormerStatus,
} from "./autoscaler-conversion.ts";
import { defaultAutoscaler } from "./autoscaling-defaults.ts";
import { validateMetric, validateReference } from "./metric-validation.ts";

const MAX_PERIOD_SECONDS = 1800;
const MAX_WINDOW_SECONDS = 3600;

const NAMES = {
  group: "autoscaling",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  shortNames: ["hpa"],
  categories: ["all"],
  versionsDiffer: true,
};

const autoscalerKind = defineKind({
  ...NAMES,
  version: "v2",
  status: true,
  strategy: strategyOf("HorizontalPodAutoscaler", {
    initialStatus: { currentMetrics: null, desiredReplicas: 0 },
    default: defaultAutoscaler,
    validate: validateAutoscaler,
  }),
});

/** The same autoscalers by their former version, which has a field for the processor's use and annotations for the rest. */
const formerAutoscalerKind = defineKind({
  ...NAMES,
  version: "v1",
  type: "HorizontalPodAutoscalerV1",
  subresources: [
    {
      name: "status",
      group: NAMES.group,
      version: "v1",
      kind: NAMES.kind,
      verbs: ["get", "patch", "update"],
      take: takeFormerStatus,
    },
  ],
  strategy: {
    default: (object) => {
      return { ...object, spec: { minReplicas: 1, ...(isRecord(object["spec"]) ? object["spec"] : {}) } };
    },
    prepareCreate: withoutFormerStatus,
    prepareUpdate: keepFormerStatus,
    validate: (object) => autoscalerKind.strategy.validate?.(fromFormerAutoscaler(object)) ?? [],
  },
  storedAs: {
    group: NAMES.group,
    plural: NAMES.plural,
    toStored: fromFormerAutoscaler,
    fromStored: toFormerAutoscaler,
  },
});

/** The kinds of autoscaling: one, in two versions. */
export const AUTOSCALING_KINDS: readonly ResourceKind[] = [
  autoscalerKind,
  {
    ...formerAutoscalerKind,
    columns: autoscalerKind.columns.map((column) => {
      return { ...column, cell: (object) => column.cell(fromFormerAutoscaler(object)) };
    }),
  },
];

function validateAutoscaler({ spec }: HorizontalPodAutoscaler): FieldError[] {
  const { minReplicas = 1, maxReplicas, behavior } = spec;
  const errors: FieldError[] = [];
  if (minReplicas < 1) errors.push(invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1"));
  if (maxReplicas < 1) errors.push(invalid("spec.maxReplicas", maxReplicas, "must be greater than 0"));
  if (maxReplicas < minReplicas) {
    errors.push(invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`"));
  }
  return [
    ...errors,
    ...validateReference("spec.scaleTargetRef", spec.scaleTargetRef),
    ...validateTargetGroup(spec.scaleTargetRef),
    ...each("spec.metrics", spec.metrics, validateMetric),
    ...validateRules("spec.behavior.scaleUp", behavior?.scaleUp),
    ...validateRules("spec.behavior.scaleDown", behavior?.scaleDown),
  ];
}

function validateRules(path: string, rules: HPAScalingRules | undefined): FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window = 0, selectPolicy, policies = [], tolerance } = rules;
  const at = `${path}.stabilizationWindowSeconds`;
  const errors: FieldError[] = [];
  if (window < 0) errors.push(invalid(at, window, "must be greater than or equal to zero"));
  if (window > MAX_WINDOW_SECONDS) {
    errors.push(invalid(at, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  }
  errors.push(...optionalOneOf(`${path}.selectPolicy`, selectPolicy, ["Disabled", "Max", "Min"]));
  if (policies.length === 0) errors.push(required(`${path}.policies`, "must specify at least one Policy"));
  errors.push(...each(`${path}.policies`, policies, validatePolicy));
  if (tolerance !== undefined && compareQuantities(tolerance, "0") < 0) {
    errors.push(invalid(`${path}.tolerance`, tolerance, "must be greater than or equal to 0"));
  }
  return errors;
}

function validatePolicy(
  { type, value, periodSeconds }: NonNullable<HPAScalingRules["policies"]>[number],
  path: string,
): FieldError[] {
  const errors = ["Pods", "Percent"].includes(type) ? [] : [unsupported(`${path}.type`, type, ["Percent", "Pods"])];
  if (value <= 0) errors.push(invalid(`${path}.value`, value, "must be greater than zero"));
  if (periodSeconds <= 0) errors.push(invalid(`${path}.periodSeconds`, periodSeconds, "must be greater than zero"));
  if (periodSeconds > MAX_PERIOD_SECONDS) {
    const detail = `must be less than or equal to ${MAX_PERIOD_SECONDS}`;
    errors.push(invalid(`${path}.periodSeconds`, periodSeconds, detail));
  }
  return errors;
}

/** Refuses a target without an API group, which is a mistake for all kinds but the one that was there before groups. */
function validateTargetGroup({ apiVersion = "", kind }: CrossVersionObjectReference): FieldError[] {
  if (apiVersion.includes("/") || kind === "ReplicationController") return [];
  return [invalid("spec.scaleTargetRef.apiVersion", apiVersion, "apiVersion must specify API group")];
}
