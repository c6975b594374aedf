import type { FieldError } from "../../../api/field-error.ts";
import type { DaemonSet, DaemonSetUpdateStrategy } from "../../../api/gen/types.ts";
import { invalid, notNegative, required, unsupported } from "../../../api/validation/problems.ts";
import { validateTemplate } from "../core/pod/pod-template-spec.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { defineKind, MAX_POD_VALUES } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { atMostAll, isZero, validateIntOrPercent } from "../rules/int-or-percent.ts";
import { defaultPodTemplate, validateLasting, validateSelection } from "../rules/pod-template.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { type StatusCounts, validateCounts } from "../rules/workload-status.ts";
import { strategyOf } from "../typed-strategy.ts";

/**
 * The annotation that a field of older versions has become. It counts the changes of the template, and clients cannot
 * set it.
 */
const TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

const COUNTS: StatusCounts = {
  counts: [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
  ],
};

export const daemonSetKind = defineKind({
  group: "apps",
  kind: "DaemonSet",
  plural: "daemonsets",
  maxValues: MAX_POD_VALUES,
  shortNames: ["ds"],
  categories: ["all"],
  status: true,
  validateStatus: (next, current) => validateCounts(COUNTS, next, current),
  strategy: strategyOf("DaemonSet", {
    generation: true,
    initialStatus: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    warnings: ({ spec }) => podTemplateWarnings(spec?.template ?? {}, "spec.template."),
    default: setDefaults,
    prepareCreate: (draft) => setTemplateGeneration(draft, "1"),
    prepareUpdate(draft, current) {
      const before = current.metadata?.annotations?.[TEMPLATE_GENERATION] ?? "1";
      const isChanged = !isSame(draft.spec?.template, current.spec?.template);
      setTemplateGeneration(draft, isChanged ? String(Number(before) + 1) : before);
    },
    validate: validateDaemonSet,
    validateUpdate: (next, current) => immutable("spec.selector", next.spec?.selector, current.spec?.selector),
  }),
});

function setDefaults({ spec }: DaemonSet): void {
  if (!spec) return;
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ||= "RollingUpdate";
  if (spec.updateStrategy.type === "RollingUpdate") {
    spec.updateStrategy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...spec.updateStrategy.rollingUpdate };
  }
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec.template);
}

function setTemplateGeneration(draft: DaemonSet, count: string): void {
  const annotations = { ...draft.metadata?.annotations, [TEMPLATE_GENERATION]: count };
  draft.metadata = { ...draft.metadata, annotations };
}

function validateDaemonSet({ spec }: DaemonSet): FieldError[] {
  if (!spec) return [required("spec.selector"), required("spec.template.spec.containers")];
  const { selector, template, updateStrategy = {} } = spec;
  return [
    ...validateSelection({ kind: "daemonset", selector, template }),
    ...validateTemplate("spec.template", template),
    ...validateLasting("DaemonSet", template),
    ...notNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...validateUpdateStrategy("spec.updateStrategy", updateStrategy),
    ...notNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit),
  ];
}

function validateUpdateStrategy(path: string, { type, rollingUpdate }: DaemonSetUpdateStrategy): FieldError[] {
  if (type === "OnDelete") return [];
  if (type !== "RollingUpdate") return [unsupported(path, { type }, ["RollingUpdate", "OnDelete"])];
  const { maxUnavailable, maxSurge } = rollingUpdate ?? {};
  const unavailable = `${path}.rollingUpdate.maxUnavailable`;
  const surge = `${path}.rollingUpdate.maxSurge`;
  const errors = [
    ...validateIntOrPercent(unavailable, maxUnavailable),
    ...validateIntOrPercent(surge, maxSurge),
    ...atMostAll(unavailable, maxUnavailable),
    ...atMostAll(surge, maxSurge),
  ];
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    errors.push(invalid(surge, maxSurge, "may not be set when maxUnavailable is non-zero"));
  } else if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(required(unavailable, "cannot be 0 when maxSurge is 0"));
  }
  return errors;
}
