import type { Node, NodeStatus } from "../../../api/gen/types.ts";
import type { Decision } from "../../../base/timeline.ts";
import { PRESSURE_CONDITIONS } from "./node-conditions.ts";

/** This decision is recorded once, when the node agent starts. */
export const STARTING_DECISION: Decision = { type: "Normal", reason: "Starting", message: "Starting kubelet." };

/**
 * Computes the events that lie between two statuses of the node, in upstream's words. A node that becomes known has no
 * history: its first Ready makes no event, its first pressure conditions do.
 */
export function computeNodeEvents(nodeName: string, before: NodeStatus, after: NodeStatus): Decision[] {
  const events: Decision[] = [];
  const bootId = after.nodeInfo?.bootID ?? "";
  const bootIdBefore = before.nodeInfo?.bootID ?? "";
  if (bootId !== "" && bootIdBefore !== "" && bootId !== bootIdBefore) {
    const message = `Node ${nodeName} has been rebooted, boot id: ${bootId}`;
    events.push({ type: "Warning", reason: "Rebooted", message });
  }
  for (const { type, pressed, relieved } of Object.values(PRESSURE_CONDITIONS)) {
    const status = statusOf(after, type);
    if (status === undefined || status === statusOf(before, type)) continue;
    events.push(statusEvent(nodeName, status === "True" ? pressed.event : relieved.event));
  }
  const ready = statusOf(after, "Ready");
  const readyBefore = statusOf(before, "Ready");
  if (readyBefore !== undefined && readyBefore !== ready) {
    events.push(statusEvent(nodeName, ready === "True" ? "NodeReady" : "NodeNotReady"));
  }
  return events;
}

/**
 * Computes the event of a change; undefined where nothing changed. Before the first look, the node counts as
 * schedulable.
 */
export function computeSchedulingEvent(node: Node, wasUnschedulable: boolean): Decision | undefined {
  const isUnschedulable = node.spec?.unschedulable === true;
  if (isUnschedulable === wasUnschedulable) return undefined;
  return statusEvent(node.metadata?.name ?? "", isUnschedulable ? "NodeNotSchedulable" : "NodeSchedulable");
}

/** Returns the status as if its pressure conditions had not been judged yet. */
export function withoutPressure(status: NodeStatus): NodeStatus {
  const types = new Set(Object.values(PRESSURE_CONDITIONS).map(({ type }) => type));
  return { ...status, conditions: (status.conditions ?? []).filter(({ type }) => !types.has(type)) };
}

function statusEvent(nodeName: string, reason: string): Decision {
  return { type: "Normal", reason, message: `Node ${nodeName} status is now: ${reason}` };
}

function statusOf(status: NodeStatus, type: string): string | undefined {
  return status.conditions?.find((condition) => condition.type === type)?.status;
}
