import { notFoundError } from "../../../api/api-error.ts";
import type { MatchResources, NamedRuleWithOperations } from "../../../api/gen/types.ts";
import { apiVersionOf, type KubeObject } from "../../../api/object.ts";
import { type LabelSelector, labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import { groupResource, type ResourceKind } from "../../ports/resource-kind.ts";
import type { ResourceReader } from "../../ports/resources.ts";
import { LOOPBACK_USER } from "../../ports/user.ts";

export interface MatchDeps {
  readonly reader: Pick<ResourceReader, "get">;
  /** All kinds that show the objects of this one, itself included: its other versions. */
  viewsOf(kind: ResourceKind): readonly ResourceKind[];
}

/** The requests that a webhook, a policy or a binding is about. */
export interface RequestSelection {
  /** Undefined for all requests. */
  readonly rules: readonly NamedRuleWithOperations[] | undefined;
  /** Requests that it is not about, whatever the rules say. Default: none. */
  readonly excludeRules?: readonly NamedRuleWithOperations[] | undefined;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** A rule about one version of a resource holds for the others, too. */
  readonly matchesEquivalents: boolean;
}

/** The selection of a policy or binding. */
export function requestSelectionOf(resources: MatchResources): RequestSelection {
  const { resourceRules = [], excludeResourceRules, matchPolicy } = resources;
  return {
    rules: resourceRules.length === 0 ? undefined : resourceRules,
    excludeRules: excludeResourceRules,
    namespaceSelector: labelSelectorOf(resources.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(resources.objectSelector ?? {}),
    matchesEquivalents: matchPolicy !== "Exact",
  };
}

/**
 * The kind in which the request is to be shown to whom the selection belongs; undefined when it is not about the request.
 * Throws NotFound when that depends on a namespace that does not exist. Follows the matchers of
 * k8s.io/apiserver/pkg/admission/plugin, which webhooks and policies share as well.
 */
export function matchRequest(
  deps: MatchDeps,
  selection: RequestSelection,
  request: AdmissionRequest,
): ResourceKind | undefined {
  const { rules, excludeRules = [], namespaceSelector } = selection;
  const namespace = namespaceSelector.isEverything ? "any" : selectsNamespace(deps, selection, request);
  if (namespace === "other" || !selectsObject(selection, request)) return undefined;
  const viewBy = (some: readonly NamedRuleWithOperations[]) =>
    viewFor(deps, { rules: some, matchesEquivalents: selection.matchesEquivalents }, request);
  if (viewBy(excludeRules) !== undefined) return undefined;
  const view = rules === undefined ? request.kind : viewBy(rules);
  if (view === undefined || namespace === "any") return view;
  throw notFoundError({ group: "", resource: "namespaces" }, namespaceOf(request));
}

/** Subresources that change an object of which the client has sent no version. */
const ACTIONS = ["binding", "eviction", "scale"];

/** True for the effects of actions on objects: what the client has sent of an action was shown before. */
export function isEffect({ operation, subresource, kind, object }: AdmissionRequest): boolean {
  if (operation !== "UPDATE" || !ACTIONS.includes(subresource)) return false;
  return object?.kind === kind.kind && object.apiVersion === apiVersionOf(kind);
}

/**
 * True where the server brings a stored object to another storage version, after that of its definition has changed.
 * Upstream's controller does that without admission, too.
 */
export function isMigration({ kind, user, current }: AdmissionRequest): boolean {
  return user === LOOPBACK_USER && current !== undefined && current.apiVersion !== apiVersionOf(kind);
}

/** The namespace of a request as rules see it: a namespace counts as being in itself. */
export function namespaceOf({ kind, namespace, name, object }: AdmissionRequest): string {
  if (groupResource(kind) !== "namespaces") return namespace;
  return name === "" ? (object?.metadata.name ?? "") : name;
}

function selectsNamespace(
  { reader }: MatchDeps,
  { namespaceSelector }: RequestSelection,
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

function selectsObject({ objectSelector }: RequestSelection, { object, current }: AdmissionRequest): boolean {
  if (objectSelector.isEverything) return true;
  const isSelected = (candidate: KubeObject | undefined) =>
    candidate !== undefined && objectSelector.matches(candidate.metadata.labels);
  return isSelected(object) || isSelected(current);
}

interface Rules {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly matchesEquivalents: boolean;
}

function viewFor(
  { viewsOf }: MatchDeps,
  { rules, matchesEquivalents }: Rules,
  request: AdmissionRequest,
): ResourceKind | undefined {
  const { kind, subresource } = request;
  if (rules.some((rule) => isCovered(rule, request, kind))) return kind;
  if (!matchesEquivalents || rules.length === 0) return undefined;
  const others = viewsOf(kind).filter((view) => {
    return view !== kind && (subresource === "" || view.subresources.some(({ name }) => name === subresource));
  });
  for (const rule of rules) {
    const view = others.find((other) => isCovered(rule, request, other));
    if (view !== undefined) return view;
  }
  return undefined;
}

function isCovered(rule: NamedRuleWithOperations, request: AdmissionRequest, kind: ResourceKind): boolean {
  const { operations, apiGroups, apiVersions, resources = [], resourceNames = [] } = rule;
  return (
    isInScope(rule.scope, request) &&
    includes(operations, request.operation) &&
    includes(apiGroups, kind.group) &&
    includes(apiVersions, kind.version) &&
    (resourceNames.length === 0 || resourceNames.includes(request.name)) &&
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
