import type { ClusterRole, LabelSelector, LabelSelectorRequirement, PolicyRule } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "./controller.ts";
import { createWorkQueue } from "./work-queue.ts";

const RESOURCE = "clusterroles.rbac.authorization.k8s.io";

/**
 * A cluster role with an aggregation rule has the rules of all cluster roles that the rule selects, and no others: so
 * that the definition of a custom resource can add to `view`, `edit` and `admin` (`clusterrole-aggregation-controller`).
 */
export function createClusterRoleAggregation(deps: ControllerDeps): Controller {
  const { reader, writer, feed } = deps;
  const aggregated = new Set<string>();
  const queue = createWorkQueue(deps, {
    name: "clusterrole-aggregation-controller",
    async reconcile(name) {
      const found = reader.get({ resource: RESOURCE, namespace: "", name });
      const role = found && typed("ClusterRole", found);
      if (role?.aggregationRule === undefined) return undefined;
      const rules = computeRules(reader, role);
      if (rules.map(canonical).join() === (role.rules ?? []).map(canonical).join()) return undefined;
      await unlessOvertaken(writer.update(RESOURCE, untyped({ ...role, rules })));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow(RESOURCE, ({ type, object }) => {
      const { name = "" } = object.metadata;
      const isAggregated = type !== "DELETED" && typed("ClusterRole", object).aggregationRule !== undefined;
      if (isAggregated) aggregated.add(name);
      else aggregated.delete(name);
      // Any role's labels or rules may matter to each of them; there are few.
      for (const other of aggregated) queue.add(other);
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function computeRules(reader: ResourceReader, role: ClusterRole): PolicyRule[] {
  const others = reader
    .list(RESOURCE)
    .map((object) => typed("ClusterRole", object))
    .filter(({ metadata }) => metadata?.name !== role.metadata?.name);
  const rules = new Map<string, PolicyRule>();
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selected = others.filter(({ metadata }) => matches(selector, metadata?.labels ?? {}));
    for (const rule of selected.flatMap((other) => other.rules ?? [])) {
      const key = canonical(rule);
      if (!rules.has(key)) rules.set(key, rule);
    }
  }
  return [...rules.values()];
}

function canonical({ apiGroups, nonResourceURLs, resourceNames, resources, verbs }: PolicyRule): string {
  return JSON.stringify([apiGroups ?? [], resources ?? [], verbs, resourceNames ?? [], nonResourceURLs ?? []]);
}

function matches({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Record<string, string>): boolean {
  const hasLabels = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return hasLabels && matchExpressions.every((requirement) => meets(requirement, labels[requirement.key]));
}

function meets({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    default:
      return value === undefined;
  }
}
