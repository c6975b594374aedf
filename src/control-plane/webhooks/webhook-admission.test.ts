import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { labelSelectorOf } from "../../api/selectors/label-selector.ts";
import { createMetrics } from "../../base/metrics.ts";
import { compileMatchConditions } from "../cel/policies/compile-policy.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { UnansweredError } from "../ports/unanswered.ts";
import { LOOPBACK_USER, type User } from "../ports/user.ts";
import { createWebhookAdmission } from "./webhook-admission.ts";
import type { Webhook } from "./webhook-configurations.ts";
import { createWebhookMetrics } from "./webhook-metrics.ts";

const WIDGETS: ResourceKind = {
  group: "example.com",
  version: "v2",
  kind: "Widget",
  listKind: "WidgetList",
  plural: "widgets",
  singular: "widget",
  shortNames: [],
  categories: [],
  namespaced: false,
  verbs: ["update"],
  schema: {
    decode: (value) => ({ value, errors: [], warnings: [] }),
    node: { kind: "untyped" },
    strategicMerge: false,
    definition: "Widget",
  },
  strategy: {},
  subresources: [],
  columns: [],
};
const ANY: Webhook = {
  type: "validating",
  reviewVersion: "v1",
  id: "a/a",
  name: "a",
  place: { url: "https://example.com" },
  rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] }],
  namespaceSelector: labelSelectorOf({}),
  objectSelector: labelSelectorOf({}),
  conditions: [],
  matchesEquivalents: true,
  ignoresFailures: false,
  timeoutMs: 1_000,
  supportsDryRun: true,
  isReinvocable: false,
};

const admissionOf = (webhook: Webhook) =>
  createWebhookAdmission({
    call: async () => ({}),
    clock: { monotonic: () => 0 },
    metrics: createWebhookMetrics(createMetrics()),
    newUid: () => "uid",
    webhooks: { list: (type) => (type === "validating" ? [webhook] : []) },
    reader: { get: () => undefined },
    authorize: () => ({ allowed: false, reason: "" }),
    viewsOf: (kind) => [kind],
  });
const widget = (version: string): KubeObject => {
  return { apiVersion: `example.com/${version}`, kind: "Widget", metadata: { name: "w" } };
};
const ADMIN: User = { username: "admin", groups: [] };

const requestWith = (fields: Partial<AdmissionRequest>): AdmissionRequest => ({
  operation: "UPDATE",
  kind: WIDGETS,
  subresource: "",
  namespace: "",
  name: "w",
  user: ADMIN,
  object: widget("v2"),
  current: widget("v2"),
  dryRun: false,
  warn() {},
  ...fields,
});

it.each<[string, boolean, Partial<AdmissionRequest>]>([
  ["is asked about an update", true, {}],
  ["is asked about an update of the control plane's own", true, { user: LOOPBACK_USER }],
  ["is not asked when an object follows the storage version", false, { user: LOOPBACK_USER, current: widget("v1") }],
  ["is not asked about the effect of an eviction", false, { subresource: "eviction" }],
  ["is not asked about configurations", false, { kind: { ...WIDGETS, group: "admissionregistration.k8s.io" } }],
])("a webhook %s", (_name, isAsked, fields) => {
  const judge = () => admissionOf(ANY).forRequest?.()?.validate?.(requestWith(fields));
  if (isAsked) expect(judge).toThrow(UnansweredError);
  else expect(judge).not.toThrow();
});

const named = (expression: string) => [{ name: "c", expression }];
const denied = 'widgets.example.com "w" is forbidden: expression';

it.each<[string, string, string | RegExp | undefined, boolean]>([
  [
    "is asked where its condition holds",
    "object.metadata.name == 'w' && request.operation == 'UPDATE'",
    "unanswered",
    false,
  ],
  ["is not asked where its condition does not hold", "oldObject.kind != 'Widget'", undefined, false],
  [
    "may ask whether the user has a right",
    "authorizer.group('').resource('pods').check('get').allowed()",
    undefined,
    false,
  ],
  ["refuses the request where its condition fails", "object.spec.missing == 1", new RegExp(denied), false],
  ["is left out where its condition fails and failures are ignored", "object.spec.missing == 1", undefined, true],
])("a webhook %s", (_name, expression, thrown, ignoresFailures) => {
  const { programs: conditions, problems } = compileMatchConditions(named(expression), "matchConditions", false);
  expect(problems).toEqual([]);
  const plugin = admissionOf({ ...ANY, conditions, ignoresFailures }).forRequest?.();
  const judge = () => plugin?.validate?.(requestWith({}));
  if (thrown === undefined) expect(judge).not.toThrow();
  else expect(judge).toThrow(thrown === "unanswered" ? UnansweredError : thrown);
});
