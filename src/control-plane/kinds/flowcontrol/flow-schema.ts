import type { FieldError } from "../../../api/field-error.ts";
import type { FlowSchema, FlowSchemaSpec } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import { each, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { isSame } from "../rules/semantic-changes.ts";
import { strategyOf } from "../typed-strategy.ts";
import { MANDATORY_FLOW_SCHEMAS } from "./default-flow-schemas.ts";
import { validateFlowConditions } from "./flow-conditions.ts";
import { validateFlowRule } from "./flow-schema-rules.ts";

const DEFAULT_PRECEDENCE = 1000;
const MAX_PRECEDENCE = 10_000;
const DISTINGUISHERS = ["ByNamespace", "ByUser"];

export const flowSchemaKind = defineKind({
  group: "flowcontrol.apiserver.k8s.io",
  kind: "FlowSchema",
  plural: "flowschemas",
  namespaced: false,
  status: true,
  rowRank: (object) => typed("FlowSchema", object).spec?.matchingPrecedence ?? 0,
  validateStatus: (next) => validateFlowConditions(typed("FlowSchema", next).status?.conditions),
  strategy: strategyOf("FlowSchema", {
    generation: true,
    initialStatus: {},
    default(draft) {
      draft.spec ??= { priorityLevelConfiguration: { name: "" } };
      draft.spec.matchingPrecedence ||= DEFAULT_PRECEDENCE;
    },
    validate: validateFlowSchema,
  }),
});

function validateFlowSchema({ metadata, spec }: FlowSchema): FieldError[] {
  const { name = "" } = metadata ?? {};
  const fixed = MANDATORY_FLOW_SCHEMAS.get(name);
  const isFixed = fixed === undefined || isSame(fixed, spec);
  return [
    ...(spec ? validateSpec(name, spec) : []),
    ...(isFixed ? [] : [invalid("spec", spec, `spec of '${name}' must equal the fixed value`)]),
  ];
}

function validateSpec(schema: string, spec: FlowSchemaSpec): FieldError[] {
  const { distinguisherMethod: method, priorityLevelConfiguration, rules } = spec;
  const isKnown = method === undefined || DISTINGUISHERS.includes(method.type);
  return [
    ...validatePrecedence(schema, spec.matchingPrecedence ?? 0),
    ...(isKnown ? [] : [unsupported("spec.distinguisherMethod.type", method, DISTINGUISHERS)]),
    ...validateLevelName(priorityLevelConfiguration.name),
    ...each("spec.rules", rules, validateFlowRule),
  ];
}

function validatePrecedence(schema: string, precedence: number): FieldError[] {
  const problems: string[] = [];
  if (precedence <= 0) problems.push("must be a positive value");
  if (precedence > MAX_PRECEDENCE) problems.push(`must not be greater than ${MAX_PRECEDENCE}`);
  if (precedence === 1 && schema !== "exempt") {
    problems.push("only the schema named 'exempt' may have matchingPrecedence 1");
  }
  return invalidEach("spec.matchingPrecedence", precedence, problems);
}

function validateLevelName(name: string): FieldError[] {
  const path = "spec.priorityLevelConfiguration.name";
  if (name === "") return [required(path, "must reference a priority level")];
  return invalidEach(path, name, checkDnsSubdomain(name));
}
