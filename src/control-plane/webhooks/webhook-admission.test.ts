import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { labelSelectorOf } from "../../api/selectors/label-selector.ts";
import { createMetrics } from "../../base/metrics.ts";
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
  id: "a/a",
  name: "a",
  place: { url: "https://example.com" },
  rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] }],
  namespaceSelector: labelSelectorOf({}),
  objectSelector: labelSelectorOf({}),
  matchesEquivalents: true,
  ignoresFailures: false,
  timeoutMs: 1_000,
  supportsDryRun: true,
  isReinvocable: false,
};

const admission = createWebhookAdmission({
  call: async () => ({}),
  clock: { monotonic: () => 0 },
  metrics: createWebhookMetrics(createMetrics()),
  newUid: () => "uid",
  webhooks: { list: (type) => (type === "validating" ? [ANY] : []) },
  reader: { get: () => undefined },
  viewsOf: (kind) => [kind],
});
const widget = (version: string): KubeObject => {
  return { apiVersion: `example.com/${version}`, kind: "Widget", metadata: { name: "w" } };
};
const ADMIN: User = { username: "admin", groups: [] };

it.each<[string, boolean, Partial<AdmissionRequest>]>([
  ["is asked about an update", true, {}],
  ["is asked about an update of the control plane's own", true, { user: LOOPBACK_USER }],
  ["is not asked when an object follows the storage version", false, { user: LOOPBACK_USER, current: widget("v1") }],
  ["is not asked about the effect of an eviction", false, { subresource: "eviction" }],
  ["is not asked about configurations", false, { kind: { ...WIDGETS, group: "admissionregistration.k8s.io" } }],
])("a webhook %s", (_name, isAsked, fields) => {
  const request: AdmissionRequest = {
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
  };
  const judge = () => admission.forRequest?.()?.validate?.(request);
  if (isAsked) expect(judge).toThrow(UnansweredError);
  else expect(judge).not.toThrow();
});
