import type { ComponentStatus, ObjectMeta, ParamKind, ParamRef, ResourceQuota } from "../../../api/gen/types.ts";
import { orNone, selectorText } from "./cell-text.ts";
import { AGE, type ColumnRow, columnsOf, NAME } from "./column.ts";

export const NAMESPACE_COLUMNS = columnsOf("Namespace", [
  NAME,
  {
    name: "Status",
    description: "Whether the namespace is in use or going.",
    cell: ({ status }) => status?.phase ?? "",
  },
  AGE,
]);

export const CONFIG_MAP_COLUMNS = columnsOf("ConfigMap", [
  NAME,
  {
    name: "Data",
    description: "How many entries it has.",
    cell: ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length,
  },
  AGE,
]);

export const SECRET_COLUMNS = columnsOf("Secret", [
  NAME,
  { name: "Type", description: "What the secret is for.", cell: ({ type = "" }) => type },
  { name: "Data", description: "How many entries it has.", cell: ({ data = {} }) => Object.keys(data).length },
  AGE,
]);

export const RESOURCE_QUOTA_COLUMNS = columnsOf("ResourceQuota", [
  NAME,
  {
    name: "Request",
    description: "What is used of what may be requested.",
    cell: (quota) => quotaText(quota, (resource) => !isLimit(resource)),
  },
  { name: "Limit", description: "What is used of what may be the limit.", cell: (quota) => quotaText(quota, isLimit) },
  AGE,
]);

function isLimit(resource: string): boolean {
  return resource.startsWith("limits.");
}

function quotaText({ status }: ResourceQuota, belongs: (resource: string) => boolean): string {
  const { hard = {}, used = {} } = status ?? {};
  const resources = Object.keys(hard).filter(belongs).toSorted();
  return resources.map((resource) => `${resource}: ${used[resource] ?? "0"}/${hard[resource]}`).join(", ");
}

export const COMPONENT_STATUS_COLUMNS = columnsOf("ComponentStatus", [
  NAME,
  {
    name: "Status",
    description: "Whether the component is healthy.",
    cell: (component) => {
      const health = healthOf(component);
      if (!health) return "Unknown";
      return health.status === "True" ? "Healthy" : "Unhealthy";
    },
  },
  { name: "Message", description: "What it says.", cell: (component) => healthOf(component)?.message ?? "" },
  { name: "Error", description: "What is wrong with it.", cell: (component) => healthOf(component)?.error ?? "" },
]);

function healthOf({ conditions = [] }: ComponentStatus) {
  return conditions.find(({ type }) => type === "Healthy");
}

export const PRIORITY_CLASS_COLUMNS = columnsOf("PriorityClass", [
  NAME,
  { name: "Value", type: "integer", description: "The priority that its pods get.", cell: ({ value = 0 }) => value },
  {
    name: "Global-Default",
    type: "boolean",
    description: "Whether pods that name no class get this one.",
    cell: ({ globalDefault = false }) => globalDefault,
  },
  AGE,
  {
    name: "PreemptionPolicy",
    description: "Whether its pods take the place of others.",
    cell: ({ preemptionPolicy = "" }) => preemptionPolicy,
  },
]);

export const RUNTIME_CLASS_COLUMNS = columnsOf("RuntimeClass", [
  NAME,
  { name: "Handler", description: "What the container runtime calls it.", cell: ({ handler }) => handler },
  AGE,
]);

export const LEASE_COLUMNS = columnsOf("Lease", [
  NAME,
  { name: "Holder", description: "Who holds it.", cell: ({ spec }) => spec?.holderIdentity ?? "" },
  AGE,
]);

const WEBHOOKS: ReadonlyArray<ColumnRow<{ metadata?: Readonly<ObjectMeta>; webhooks?: unknown[] }>> = [
  NAME,
  {
    name: "Webhooks",
    type: "integer",
    description: "How many webhooks it registers.",
    cell: ({ webhooks = [] }) => webhooks.length,
  },
  AGE,
];

export const MUTATING_WEBHOOK_CONFIGURATION_COLUMNS = columnsOf("MutatingWebhookConfiguration", WEBHOOKS);
export const VALIDATING_WEBHOOK_CONFIGURATION_COLUMNS = columnsOf("ValidatingWebhookConfiguration", WEBHOOKS);

const PARAM_KIND: ColumnRow<{ spec?: { paramKind?: ParamKind } }> = {
  name: "ParamKind",
  description: "What it takes its parameters from.",
  cell: ({ spec }) => paramKindText(spec?.paramKind),
};

export const VALIDATING_ADMISSION_POLICY_COLUMNS = columnsOf("ValidatingAdmissionPolicy", [
  NAME,
  {
    name: "Validations",
    type: "integer",
    description: "How many rules it has.",
    cell: ({ spec }) => spec?.validations?.length ?? 0,
  },
  PARAM_KIND,
  AGE,
]);

function paramKindText(paramKind: ParamKind | undefined): string {
  return paramKind ? `${paramKind.apiVersion ?? ""}/${paramKind.kind ?? ""}` : "<unset>";
}

export const MUTATING_ADMISSION_POLICY_COLUMNS = columnsOf("MutatingAdmissionPolicy", [
  NAME,
  {
    name: "Mutations",
    type: "integer",
    description: "How many changes it makes.",
    cell: ({ spec }) => spec?.mutations?.length ?? 0,
  },
  PARAM_KIND,
  AGE,
]);

const POLICY_BINDING: ReadonlyArray<
  ColumnRow<{ metadata?: Readonly<ObjectMeta>; spec?: { policyName?: string; paramRef?: ParamRef } }>
> = [
  NAME,
  { name: "PolicyName", description: "The policy that it puts in force.", cell: ({ spec }) => spec?.policyName ?? "" },
  { name: "ParamRef", description: "The policy's parameters.", cell: ({ spec }) => paramRefText(spec?.paramRef) },
  AGE,
];

export const VALIDATING_ADMISSION_POLICY_BINDING_COLUMNS = columnsOf(
  "ValidatingAdmissionPolicyBinding",
  POLICY_BINDING,
);
export const MUTATING_ADMISSION_POLICY_BINDING_COLUMNS = columnsOf("MutatingAdmissionPolicyBinding", POLICY_BINDING);

/** The text of a reference to parameters. A reference without a namespace leaves it open here. */
function paramRefText(paramRef: ParamRef | undefined): string {
  if (paramRef?.name) return `${paramRef.namespace || "*"}/${paramRef.name}`;
  return paramRef?.selector ? orNone(selectorText(paramRef.selector)) : "<unset>";
}
