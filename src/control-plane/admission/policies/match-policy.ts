import type { MatchResources, NamedRuleWithOperations } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import { groupResource } from "../../ports/resource-kind.ts";
import type { ResourceReader } from "../../ports/resources.ts";
import { missing } from "../refusal.ts";

/**
 * Whether a policy or binding is about the request. Throws NotFound when the labels of a namespace are asked for that
 * does not exist.
 */
export function matchesPolicy(resources: MatchResources, request: AdmissionRequest, reader: ResourceReader): boolean {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = resources;
  const isExact = matchPolicy === "Exact";
  const fits = (rule: NamedRuleWithOperations) => matchesRule(rule, request, isExact);
  if (excludeResourceRules.some(fits)) return false;
  if (resourceRules.length > 0 && !resourceRules.some(fits)) return false;
  if (!matchesObject(resources, request)) return false;
  return matchesNamespace(resources, request, reader);
}

function matchesRule(rule: NamedRuleWithOperations, request: AdmissionRequest, isExact: boolean): boolean {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], resourceNames = [] } = rule;
  const { kind, operation, name } = request;
  const includes = (values: readonly string[], value: string) => values.includes("*") || values.includes(value);
  if (!includes(operations, operation) || !includes(apiGroups, kind.group)) return false;
  // Another version of the same resource is the same object: no rule is evaded by writing through it.
  if (isExact && !includes(apiVersions, kind.version)) return false;
  if (!hasScope(rule.scope, request) || !resources.some((resource) => namesResource(resource, request))) return false;
  return resourceNames.length === 0 || resourceNames.includes(name);
}

/** `pods`, `pods/log`, `pods/*`, `*`, `*` with a subresource. */
function namesResource(text: string, { kind, subresource }: AdmissionRequest): boolean {
  const [resource = "", sub = ""] = text.split("/");
  return (resource === "*" || resource === kind.plural) && (sub === "*" || sub === subresource);
}

const isNamespace = ({ kind }: AdmissionRequest) => groupResource(kind) === "namespaces";

function hasScope(scope: string | undefined, request: AdmissionRequest): boolean {
  if (scope === undefined || scope === "*") return true;
  const isNamespaced = request.kind.namespaced && !isNamespace(request);
  return (scope === "Namespaced") === isNamespaced;
}

function matchesObject({ objectSelector }: MatchResources, { object, current }: AdmissionRequest): boolean {
  const selector = labelSelectorOf(objectSelector ?? {});
  if (selector.isEverything) return true;
  return [object, current].some((each) => each !== undefined && selector.matches(each.metadata.labels));
}

function matchesNamespace(resources: MatchResources, request: AdmissionRequest, reader: ResourceReader): boolean {
  const selector = labelSelectorOf(resources.namespaceSelector ?? {});
  if (selector.isEverything) return true;
  if (isNamespace(request)) return selector.matches((request.object ?? request.current)?.metadata.labels);
  if (!request.kind.namespaced) return true;
  return selector.matches(namespaceOfRequest(request, reader)?.metadata.labels);
}

/** The namespace of the request; undefined for objects of the cluster, of which a namespace itself is one. */
export function namespaceOfRequest(request: AdmissionRequest, reader: ResourceReader): KubeObject | undefined {
  const { namespace } = request;
  if (namespace === "" || isNamespace(request)) return undefined;
  const found = reader.get({ resource: "namespaces", namespace: "", name: namespace });
  if (found === undefined) throw missing("namespaces", namespace);
  return found;
}
