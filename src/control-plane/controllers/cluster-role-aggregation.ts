import { isDeepStrictEqual } from "node:util";
import { aggregateRules } from "../../api/aggregate-rules.ts";
import { typed, untyped } from "../../api/object.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";

const RESOURCE = "clusterroles.rbac.authorization.k8s.io";

/**
 * Gives a cluster role with an aggregation rule the rules of all cluster roles that it selects, and no others. In this
 * way the definition of a custom resource can add to `view`, `edit` and `admin` (`clusterrole-aggregation-controller`).
 */
export function createClusterRoleAggregation(deps: ControllerDeps): Controller {
  const { reader, writer, feed } = deps;
  const aggregated = new Set<string>();
  const queue = createWorkQueue(deps, {
    name: "ClusterRoleAggregator",
    async reconcile(name) {
      const found = reader.get({ resource: RESOURCE, namespace: "", name });
      const role = found && typed("ClusterRole", found);
      if (role === undefined) return undefined;
      const rules = aggregateRules(
        role,
        reader.list(RESOURCE).map((object) => typed("ClusterRole", object)),
      );
      if (rules === undefined || isDeepStrictEqual(rules, role.rules ?? [])) return undefined;
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
      // The labels or rules of any role may matter to every aggregated role. There are few of them.
      for (const other of aggregated) queue.add(other);
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}
