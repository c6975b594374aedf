import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { FlowcontrolSubject, FlowSchemaSpec, PriorityLevelConfigurationSpec } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { MANDATORY_FLOW_SCHEMAS, SUGGESTED_FLOW_SCHEMAS } from "./default-flow-schemas.ts";
import { MANDATORY_PRIORITY_LEVELS, SUGGESTED_PRIORITY_LEVELS } from "./default-priority-levels.ts";
import { flowSchemaKind } from "./flow-schema.ts";
import { priorityLevelKind } from "./priority-level.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const apiVersion = "flowcontrol.apiserver.k8s.io/v1";

function schemaOf(name: string, spec: FlowSchemaSpec) {
  const made = untyped({ apiVersion, kind: "FlowSchema", metadata: { name }, spec });
  return flowSchemaKind.strategy.default?.(made) ?? made;
}
function levelOf(name: string, spec: PriorityLevelConfigurationSpec) {
  const made = untyped({ apiVersion, kind: "PriorityLevelConfiguration", metadata: { name }, spec });
  return priorityLevelKind.strategy.default?.(made) ?? made;
}
const schemaErrors = (name: string, spec: FlowSchemaSpec) => {
  return show(flowSchemaKind.strategy.validate?.(schemaOf(name, spec)));
};
const levelErrors = (name: string, spec: PriorityLevelConfigurationSpec) => {
  return show(priorityLevelKind.strategy.validate?.(levelOf(name, spec)));
};

const priorityLevelConfiguration = { name: "l" };
const group: FlowcontrolSubject = { kind: "Group", group: { name: "g" } };
const urls = { verbs: ["get"], nonResourceURLs: ["/healthz"] };
const pods = { verbs: ["*"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] };
const ruled = (rule: object): FlowSchemaSpec => ({
  priorityLevelConfiguration,
  rules: [{ subjects: [group], ...rule }],
});

describe("a flow schema", () => {
  it("has a precedence of 1000 by default", () => {
    expect(schemaOf("s", { priorityLevelConfiguration })).toMatchObject({ spec: { matchingPrecedence: 1000 } });
  });

  it.each([...MANDATORY_FLOW_SCHEMAS, ...SUGGESTED_FLOW_SCHEMAS])("of the beginning, %s, is valid", (name, spec) => {
    expect(schemaErrors(name, spec)).toEqual([]);
    expect(schemaOf(name, spec)["spec"]).toEqual(spec);
  });

  it.each<[string, FlowSchemaSpec, string[]]>([
    [
      "s",
      { priorityLevelConfiguration, matchingPrecedence: -1 },
      ["spec.matchingPrecedence: Invalid value: -1: must be a positive value"],
    ],
    [
      "s",
      { priorityLevelConfiguration, matchingPrecedence: 10_001 },
      ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
    ],
    [
      "s",
      { priorityLevelConfiguration, matchingPrecedence: 1 },
      ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
    ],
    [
      "s",
      { priorityLevelConfiguration: { name: "" } },
      ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"],
    ],
    [
      "catch-all",
      { priorityLevelConfiguration },
      [expect.stringContaining("spec of 'catch-all' must equal the fixed value")],
    ],
    [
      "s",
      ruled({}),
      ["spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"],
    ],
    [
      "s",
      ruled({ subjects: [], nonResourceRules: [urls] }),
      ["spec.rules[0].subjects: Required value: subjects must contain at least one value"],
    ],
    [
      "s",
      ruled({ subjects: [{ ...group, user: { name: "u" } }], nonResourceRules: [urls] }),
      ["spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'"],
    ],
    [
      "s",
      ruled({ subjects: [{ kind: "User" }, { kind: "Role" }], nonResourceRules: [urls] }),
      [
        "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
        'spec.rules[0].subjects[1].kind: Unsupported value: "Role": supported values: "Group", "ServiceAccount", "User"',
      ],
    ],
    [
      "s",
      ruled({
        subjects: [{ kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "" } }],
        resourceRules: [pods],
      }),
      [
        "spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account",
      ],
    ],
    [
      "s",
      ruled({ resourceRules: [{ ...pods, verbs: ["*", "get"], namespaces: [] }] }),
      [
        `spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
        "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
      ],
    ],
    [
      "s",
      ruled({ nonResourceRules: [{ ...urls, nonResourceURLs: ["healthz", "/a b", "//", "/a*", "/a/*", "/"] }] }),
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "healthz": must start with slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a b": must not contain white-space',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "//": must not contain double slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a*": wildcard can only do suffix matching',
      ],
    ],
  ])("%s with %j is told what is wrong", (name, spec, errors) => {
    expect(schemaErrors(name, spec)).toEqual(errors);
  });
});

describe("a priority level", () => {
  it("has shares and queues by default", () => {
    const limitResponse = { type: "Queue", queuing: {} };
    expect(levelOf("l", { type: "Limited", limited: { limitResponse } })["spec"]).toEqual({
      type: "Limited",
      limited: {
        nominalConcurrencyShares: 30,
        lendablePercent: 0,
        limitResponse: { type: "Queue", queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
      },
    });
  });

  it.each([...MANDATORY_PRIORITY_LEVELS, ...SUGGESTED_PRIORITY_LEVELS])(
    "of the beginning, %s, is valid",
    (name, spec) => {
      expect(levelErrors(name, spec)).toEqual([]);
      expect(levelOf(name, spec)["spec"]).toEqual(spec);
    },
  );

  const limited = (fields: object): PriorityLevelConfigurationSpec => ({
    type: "Limited",
    limited: { limitResponse: { type: "Reject" }, ...fields },
  });
  const queued = (queuing: object) => limited({ limitResponse: { type: "Queue", queuing } });

  it.each<[string, PriorityLevelConfigurationSpec, string[]]>([
    ["l", { type: "Limited" }, ["spec.limited: Required value: must not be empty when type is Limited"]],
    ["l", { type: "Some" }, ['spec.type: Unsupported value: "Some": supported values: "Exempt", "Limited"']],
    [
      "l",
      { type: "Exempt" },
      ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
    ],
    ["exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 7 } }, []],
    ["catch-all", limited({}), [expect.stringContaining("spec of 'catch-all' must equal the fixed value")]],
    [
      "l",
      limited({ nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 }),
      [
        "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
        "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
        "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer",
      ],
    ],
    [
      "l",
      queued({ queues: 4 }),
      ["spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)"],
    ],
    [
      "l",
      queued({ queues: 1024, handSize: 7 }),
      [
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60",
      ],
    ],
  ])("%s with %j is told what is wrong", (name, spec, errors) => {
    expect(levelErrors(name, spec)).toEqual(errors);
  });
});

it("has one condition of each type", () => {
  const conditions = [{ type: "Dangling" }, { type: "Dangling" }, {}];
  const object = untyped({ apiVersion, kind: "FlowSchema", metadata: { name: "s" }, status: { conditions } });
  const status = flowSchemaKind.subresources.find(({ name }) => name === "status");
  expect(show(status?.validateUpdate?.(object, object))).toEqual([
    'status.conditions[1].type: Duplicate value: "Dangling"',
    "status.conditions[2].type: Required value",
  ]);
});
