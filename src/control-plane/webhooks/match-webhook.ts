import { notFoundError } from "../../api/api-error.ts";
import type { RuleWithOperations } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import { groupResource, type ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { Webhook } from "./webhook-configurations.ts";

interface MatchDeps {
  readonly reader: Pick<ResourceReader, "get">;
  /** All kinds that show the objects of this one, itself included: its other versions. */
  viewsOf(kind: ResourceKind): readonly ResourceKind[];
}

type Selection = Pick<Webhook, "rules" | "namespaceSelector" | "objectSelector" | "matchesEquivalents">;

/**
 * The kind in which the webhook wants to see the request's object; undefined when the request is none of its business.
 * Throws NotFound when that depends on a namespace that does not exist.
 */
export function matchWebhook(deps: MatchDeps, webhook: Selection, request: AdmissionRequest): ResourceKind | undefined {
  const namespace = webhook.namespaceSelector.isEverything ? "any" : selectsNamespace(deps, webhook, request);
  if (namespace === "other" || !selectsObject(webhook, request)) return undefined;
  const view = viewFor(deps, webhook, request);
  if (view === undefined || namespace === "any") return view;
  throw notFoundError({ group: "", resource: "namespaces" }, namespaceOf(request));
}

/** The namespace of a request as webhooks see it: a namespace counts as being in itself. */
export function namespaceOf({ kind, namespace, name, object }: AdmissionRequest): string {
  if (groupResource(kind) !== "namespaces") return namespace;
  return name === "" ? (object?.metadata.name ?? "") : name;
}

function selectsNamespace(
  { reader }: MatchDeps,
  { namespaceSelector }: Selection,
  request: AdmissionRequest,
): "any" | "other" | "missing" {
  const { kind, subresource, operation, object } = request;
  const isNamespace = groupResource(kind) === "namespaces";
  const name = namespaceOf(request);
  if (name === "" && !isNamespace) return "any";
  const isOwn = isNamespace && subresource === "" && (operation === "CREATE" || operation === "UPDATE");
  const namespace = isOwn ? object : reader.get({ resource: "namespaces", namespace: "", name });
  if (namespace === undefined) return "missing";
  return namespaceSelector.matches(namespace.metadata.labels) ? "any" : "other";
}

function selectsObject({ objectSelector }: Selection, { object, current }: AdmissionRequest): boolean {
  if (objectSelector.isEverything) return true;
  const isSelected = (candidate: KubeObject | undefined) =>
    candidate !== undefined && objectSelector.matches(candidate.metadata.labels);
  return isSelected(object) || isSelected(current);
}

function viewFor({ viewsOf }: MatchDeps, webhook: Selection, request: AdmissionRequest): ResourceKind | undefined {
  const { kind, subresource } = request;
  if (webhook.rules.some((rule) => isCovered(rule, request, kind))) return kind;
  if (!webhook.matchesEquivalents) return undefined;
  const others = viewsOf(kind).filter((view) => {
    return view !== kind && (subresource === "" || view.subresources.some(({ name }) => name === subresource));
  });
  for (const rule of webhook.rules) {
    const view = others.find((other) => isCovered(rule, request, other));
    if (view !== undefined) return view;
  }
  return undefined;
}

function isCovered(rule: RuleWithOperations, request: AdmissionRequest, kind: ResourceKind): boolean {
  const { operations, apiGroups, apiVersions, resources = [] } = rule;
  return (
    isInScope(rule.scope, request) &&
    includes(operations, request.operation) &&
    includes(apiGroups, kind.group) &&
    includes(apiVersions, kind.version) &&
    resources.some((resource) => {
      const slash = resource.indexOf("/");
      const [name, subresource] = slash < 0 ? [resource, ""] : [resource.slice(0, slash), resource.slice(slash + 1)];
      return includes([name], kind.plural) && includes([subresource], request.subresource);
    })
  );
}

const includes = (list: readonly string[] | undefined, wanted: string) =>
  list?.some((item) => item === "*" || item === wanted) ?? false;

function isInScope(scope: string | undefined, { kind, namespace }: AdmissionRequest): boolean {
  const isClusterScoped = groupResource(kind) === "namespaces" || namespace === "";
  if (scope === "Cluster") return isClusterScoped;
  return scope === "Namespaced" ? !isClusterScoped : true;
}
