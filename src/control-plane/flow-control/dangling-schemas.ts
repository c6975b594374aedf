import type { FlowSchemaCondition } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { formatTime } from "../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from "./flow-objects.ts";

const DANGLING = "Dangling";

/** Says in the status of each flow schema whether its priority level is there (`presyncFlowSchemaStatus`). */
export function createDanglingSchemas(deps: ControllerDeps): Controller {
  const { reader, writer, feed, clock } = deps;
  const queue = createWorkQueue(deps, {
    name: "priority_and_fairness_config_queue",
    async reconcile(name) {
      const found = reader.get({ resource: FLOW_SCHEMAS, namespace: "", name });
      if (found === undefined) return undefined;
      const schema = typed("FlowSchema", found);
      const level = schema.spec?.priorityLevelConfiguration.name ?? "";
      const isThere = reader.get({ resource: PRIORITY_LEVELS, namespace: "", name: level }) !== undefined;
      const { conditions = [] } = schema.status ?? {};
      const wanted = conditionOf(level, isThere);
      const told = conditions.find(({ type }) => type === DANGLING);
      const isTold = told?.status === wanted.status && told?.reason === wanted.reason;
      if (isTold && told?.message === wanted.message) return undefined;
      const condition = { ...wanted, lastTransitionTime: formatTime(clock.now()) };
      const status = { conditions: [...conditions.filter((other) => other !== told), condition] };
      await unlessOvertaken(writer.update(FLOW_SCHEMAS, untyped({ ...schema, status }), "status"));
      return undefined;
    },
  });
  const follow = () => [
    feed.follow(FLOW_SCHEMAS, ({ type, object }) => {
      if (type !== "DELETED") queue.add(object.metadata.name ?? "");
    }),
    feed.follow(PRIORITY_LEVELS, ({ type, object }) => {
      if (type === "MODIFIED") return;
      for (const schema of reader.list(FLOW_SCHEMAS)) {
        const { spec } = typed("FlowSchema", schema);
        if (spec?.priorityLevelConfiguration.name === object.metadata.name) queue.add(schema.metadata.name ?? "");
      }
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

function conditionOf(level: string, isThere: boolean): FlowSchemaCondition {
  const named = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`;
  return isThere
    ? { type: DANGLING, status: "False", reason: "Found", message: `${named} and it exists` }
    : { type: DANGLING, status: "True", reason: "NotFound", message: `${named} but there is no such object` };
}
