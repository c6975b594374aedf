import { expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { ResourceQuotaSpec } from "../../../api/gen/types.ts";
import { type KubeObject, untyped } from "../../../api/object.ts";
import { resourceQuotaKind } from "./resource-quota.ts";

const { strategy, subresources } = resourceQuotaKind;
const quota = (spec: ResourceQuotaSpec, status: object = {}): KubeObject => {
  return untyped({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec, status });
};
const EXISTS_ONLY =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const selector = (scopeName: string, operator: string, values?: string[]): ResourceQuotaSpec => {
  return { scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] } };
};

it.each<[string, ResourceQuotaSpec, string[]]>([
  [
    "limits everything that is counted",
    {
      hard: {
        cpu: "1",
        "requests.storage": "1Gi",
        "services.nodeports": "0",
        "hugepages-2Mi": "1Gi",
        "requests.hugepages-2Mi": "1Gi",
        "count/deployments.apps": "2",
        "requests.example.com/gpu": "1",
        "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
      },
    },
    [],
  ],
  [
    "has no resources that are not for quotas",
    { hard: { storage: "1", bogus: "1" } },
    [
      'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
      'spec.hard[bogus]: Invalid value: "bogus": must be a standard resource type or fully qualified',
      'spec.hard[bogus]: Invalid value: "bogus": must be a standard resource for quota',
    ],
  ],
  [
    "has no negative and no half amounts",
    { hard: { cpu: "-1", pods: "1500m" } },
    [
      'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    ],
  ],
  ["has scopes that fit", { hard: { pods: "1", "limits.cpu": "1" }, scopes: ["Terminating", "NotBestEffort"] }, []],
  [
    "has no unknown scopes, and none that fit nothing",
    { hard: { cpu: "1" }, scopes: ["Bogus", "BestEffort"] },
    [
      'spec.scopes: Invalid value: ["Bogus","BestEffort"]: unsupported scope',
      'spec.scopes: Invalid value: ["Bogus","BestEffort"]: unsupported scope applied to resource',
    ],
  ],
  [
    "has no scopes that exclude each other",
    { scopes: ["Terminating", "NotTerminating"] },
    ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
  ],
  ["selects priority classes", selector("PriorityClass", "In", ["high"]), []],
  [
    "selects with values where they are needed",
    selector("PriorityClass", "In"),
    [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ],
  ],
  [
    "selects without values where there are none",
    selector("PriorityClass", "Exists", ["high"]),
    [
      "spec.scopeSelector.matchExpressions.values: Invalid value: [\"high\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
    ],
  ],
  [
    "selects by names only in scopes that have names",
    selector("BestEffort", "DoesNotExist"),
    [`spec.scopeSelector.matchExpressions.operator: Invalid value: "DoesNotExist": ${EXISTS_ONLY}`],
  ],
])("a quota %s", (_name, spec, problems) => {
  expect((strategy.validate?.(quota(spec)) ?? []).map(formatFieldError)).toEqual(problems);
});

it("keeps its scopes", () => {
  const errors = strategy.validateUpdate?.(quota({ scopes: ["BestEffort"] }), quota({})) ?? [];
  expect(errors.map(formatFieldError)).toEqual(['spec.scopes: Invalid value: ["BestEffort"]: field is immutable']);
});

it("begins uncounted, and its status tells amounts", () => {
  expect(strategy.prepareCreate?.(quota({}, { used: { pods: "1" } }))["status"]).toEqual({});
  const status = subresources.find(({ name }) => name === "status");
  const wrong = quota({}, { used: { pods: "-1" } });
  expect((status?.validateUpdate?.(wrong, quota({})) ?? []).map(formatFieldError)).toEqual([
    'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

it("is warned about when requests may be more than limits", () => {
  expect(strategy.warnings?.(quota({ hard: { cpu: "2", "limits.cpu": "1" } }))).toEqual([
    "ResourceQuota cpu (2) should be less than limits.cpu (1)",
  ]);
  expect(strategy.warnings?.(quota({ hard: { "requests.memory": "1Gi", "limits.memory": "1Gi" } }))).toEqual([]);
});
