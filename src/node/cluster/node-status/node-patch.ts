import type { Node, NodeCondition } from "../../../api/gen/types.ts";
import { isRecord } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Computes the strategic merge patch of `nodes/status` that turns the current node into the desired one; undefined
 * where nothing differs. It has the status, labels and annotations, and never anything else: a node must never write
 * its own spec or owners (CVE-2025-5187), and a patch without a field cannot. Follows upstream's
 * component-helpers/node/util/status.go.
 */
export function computeNodePatch(current: Node, desired: Node): object | undefined {
  const metadata = diffFields(
    { labels: current.metadata?.labels, annotations: current.metadata?.annotations },
    { labels: desired.metadata?.labels, annotations: desired.metadata?.annotations },
  );
  const status = {
    ...diffFields({ ...current.status, ...SEPARATE }, { ...desired.status, ...SEPARATE }),
    ...diffAddresses(current, desired),
    ...diffConditions(current.status?.conditions ?? [], desired.status?.conditions ?? []),
  };
  const patch = { ...(metadata && { metadata }), ...(Object.keys(status).length > 0 && { status }) };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** True when the nodes differ in more than the times of their heartbeats and the order of their conditions. */
export function isNodeChanged(current: Node, desired: Node): boolean {
  return computeNodePatch(withoutHeartbeats(current), withoutHeartbeats(desired)) !== undefined;
}

/** These lists merge by the type of their items, and have functions of their own below. */
const SEPARATE = { addresses: undefined, conditions: undefined };

/**
 * Compares the addresses, which are replaced as a whole. They are declared to merge by type, but such a merge cannot
 * hold two addresses of one type, which a node with both families has.
 */
function diffAddresses(current: Node, desired: Node): object | undefined {
  const { addresses = [] } = desired.status ?? {};
  if (isEqualJson(current.status?.addresses ?? [], addresses)) return undefined;
  return { addresses: [...addresses, { $patch: "replace" }] };
}

/** Lists only what changed in each condition, so that fields that others write into theirs at the same time stay. */
function diffConditions(current: readonly NodeCondition[], desired: readonly NodeCondition[]): object | undefined {
  const changed = desired.flatMap((condition) => {
    const before = current.find(({ type }) => type === condition.type);
    const difference = diffFields({ ...before }, { ...condition });
    return difference === undefined ? [] : [{ ...difference, type: condition.type }];
  });
  const gone = current.filter(({ type }) => !desired.some((condition) => condition.type === type));
  const conditions = [...changed, ...gone.map(({ type }) => ({ $patch: "delete", type }))];
  if (conditions.length === 0) return undefined;
  return { "$setElementOrder/conditions": desired.map(({ type }) => ({ type })), conditions };
}

/**
 * Compares field by field, and lists as a whole. A field to be removed becomes null. An empty field equals a missing
 * one.
 */
function diffFields(current: Fields, desired: Fields): Fields | undefined {
  const changes: Array<readonly [string, unknown]> = [];
  for (const name of new Set([...Object.keys(current), ...Object.keys(desired)])) {
    const before = current[name];
    const after = desired[name];
    if (isRecord(before)) {
      // The fields are compared even where nothing remains, so that what others add meanwhile is not removed.
      const difference = diffFields(before, isRecord(after) ? after : {});
      if (difference !== undefined) changes.push([name, difference]);
    } else if (isAbsent(after)) {
      if (!isAbsent(before)) changes.push([name, null]);
    } else if (!isEqualJson(before, after)) {
      changes.push([name, after]);
    }
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

function withoutHeartbeats(node: Node): Node {
  const conditions = (node.status?.conditions ?? []).map(({ lastHeartbeatTime: _, ...condition }) => condition);
  conditions.sort((a, b) => (a.type < b.type ? -1 : 1));
  return { ...node, status: { ...node.status, conditions } };
}
