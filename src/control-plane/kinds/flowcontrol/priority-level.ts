import type { FieldError } from "../../../api/field-error.ts";
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { forbidden, inRange, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { strategyOf } from "../typed-strategy.ts";
import { EXEMPT, MANDATORY_PRIORITY_LEVELS } from "./default-priority-levels.ts";
import { validateFlowConditions } from "./flow-conditions.ts";

/** Upstream's version before this one kept a zero in it, which no object of this version may have. */
const FORMER_ZERO_ANNOTATION = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const PERCENT = [0, 100] as const;
const DEFAULT_SHARES = 30;
const DEFAULT_QUEUING = { handSize: 8, queues: 64, queueLengthLimit: 50 };
const MAX_QUEUES = 10_000_000;
/** The bits of a hash that a hand may use up. */
const MAX_HASH_BITS = 60;

export const priorityLevelKind = defineKind({
  group: "flowcontrol.apiserver.k8s.io",
  kind: "PriorityLevelConfiguration",
  plural: "prioritylevelconfigurations",
  namespaced: false,
  status: true,
  validateStatus: (next) => validateFlowConditions(typed("PriorityLevelConfiguration", next).status?.conditions),
  strategy: strategyOf("PriorityLevelConfiguration", {
    generation: true,
    initialStatus: {},
    default(draft) {
      draft.spec ??= { type: "" };
      const { exempt, limited } = draft.spec;
      if (exempt) setShares(exempt, 0);
      if (limited) defaultLimited(limited);
    },
    validate: validatePriorityLevel,
  }),
});

function setShares(level: ExemptPriorityLevelConfiguration, shares: number): void {
  level.nominalConcurrencyShares ??= shares;
  level.lendablePercent ??= 0;
}

function defaultLimited(limited: LimitedPriorityLevelConfiguration): void {
  setShares(limited, DEFAULT_SHARES);
  const queuing = limited.limitResponse?.queuing;
  if (!queuing) return;
  queuing.handSize ||= DEFAULT_QUEUING.handSize;
  queuing.queues ||= DEFAULT_QUEUING.queues;
  queuing.queueLengthLimit ||= DEFAULT_QUEUING.queueLengthLimit;
}

function validatePriorityLevel({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const { name = "", annotations = {} } = metadata ?? {};
  const detail = `annotation '${FORMER_ZERO_ANNOTATION}' is forbidden`;
  return [
    ...(FORMER_ZERO_ANNOTATION in annotations ? [forbidden("metadata.annotations", detail)] : []),
    ...(spec ? [...validateSpec(name, spec), ...validateFixed(name, spec)] : []),
  ];
}

function validateFixed(name: string, spec: PriorityLevelConfigurationSpec): FieldError[] {
  const fixed = MANDATORY_PRIORITY_LEVELS.get(name);
  if (fixed === undefined) return [];
  const isExempt = name === EXEMPT;
  if (isSame(fixed, isExempt ? { ...spec, exempt: fixed.exempt } : spec)) return [];
  const but = isExempt ? " except the 'spec.exempt' field" : "";
  return [invalid("spec", spec, `spec of '${name}'${but} must equal the fixed value`)];
}

function validateSpec(name: string, { type, exempt, limited }: PriorityLevelConfigurationSpec): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === EXEMPT) !== (type === "Exempt")) {
    errors.push(invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  switch (type) {
    case "Exempt":
      if (limited) errors.push(forbidden("spec.limited", "must be nil if the type is not Limited"));
      return exempt ? [...errors, ...validateExempt(exempt)] : errors;
    case "Limited":
      if (exempt) errors.push(forbidden("spec.exempt", "must be nil if the type is Limited"));
      if (!limited) return [...errors, required("spec.limited", "must not be empty when type is Limited")];
      return [...errors, ...validateLimited(limited)];
    default:
      return [...errors, unsupported("spec.type", type, ["Exempt", "Limited"])];
  }
}

function validateExempt({ nominalConcurrencyShares = 0, lendablePercent }: ExemptPriorityLevelConfiguration) {
  return [
    ...validateShares("spec.exempt", nominalConcurrencyShares),
    ...inRange("spec.exempt.lendablePercent", lendablePercent, PERCENT),
  ];
}

function validateShares(path: string, shares: number): FieldError[] {
  if (shares >= 0) return [];
  return [invalid(`${path}.nominalConcurrencyShares`, shares, "must be a non-negative integer")];
}

function validateLimited(limited: LimitedPriorityLevelConfiguration): FieldError[] {
  const { nominalConcurrencyShares = 0, limitResponse = { type: "" }, lendablePercent, ...rest } = limited;
  const { borrowingLimitPercent = 0 } = rest;
  const path = "spec.limited";
  const borrowing = borrowingLimitPercent < 0 ? ["if specified, must be a non-negative integer"] : [];
  return [
    ...validateShares(path, nominalConcurrencyShares),
    ...validateResponse(limitResponse),
    ...inRange(`${path}.lendablePercent`, lendablePercent, PERCENT),
    ...invalidEach(`${path}.borrowingLimitPercent`, borrowingLimitPercent, borrowing),
  ];
}

function validateResponse({ type, queuing }: LimitResponse): FieldError[] {
  const path = "spec.limited.limitResponse";
  switch (type) {
    case "Reject":
      if (!queuing) return [];
      return [forbidden(`${path}.queuing`, "must be nil if limited.limitResponse.type is not Limited")];
    case "Queue":
      if (queuing) return validateQueuing(queuing, `${path}.queuing`);
      return [required(`${path}.queuing`, "must not be empty if limited.limitResponse.type is Limited")];
    default:
      return [unsupported(`${path}.type`, type, ["Queue", "Reject"])];
  }
}

function validateQueuing({ queueLengthLimit = 0, queues = 0, handSize = 0 }: QueuingConfiguration, path: string) {
  const errors: FieldError[] = [];
  if (queueLengthLimit <= 0) errors.push(invalid(`${path}.queueLengthLimit`, queueLengthLimit, "must be positive"));
  if (queues <= 0) errors.push(invalid(`${path}.queues`, queues, "must be positive"));
  else if (queues > MAX_QUEUES)
    errors.push(invalid(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  const problem = whyNoHand(handSize, queues);
  return problem === undefined ? errors : [...errors, invalid(`${path}.handSize`, handSize, problem)];
}

function whyNoHand(handSize: number, queues: number): string | undefined {
  if (handSize <= 0) return "must be positive";
  if (handSize > queues) return `should not be greater than queues (${queues})`;
  if (Math.ceil(Math.log2(queues) * handSize) <= MAX_HASH_BITS) return undefined;
  return `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`;
}
