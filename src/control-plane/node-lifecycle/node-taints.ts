import type { Node, Taint } from "../../api/gen/types.ts";
import { NODE_TAINTS } from "../../api/node-names.ts";
import { readinessOf } from "./node-conditions.ts";

/** Says whether pods on nodes that are not ready may be evicted. */
export type EvictionState =
  /** They are evicted when they do not tolerate the taint any longer. */
  | "allowed"
  /** No further node is given up. */
  | "held"
  /** No node is given up. All nodes seem to be gone, which more likely only seems so. */
  | "withdrawn";

/** By condition and its status: which taint keeps new pods off (`nodelifecycle`'s table). */
const CONDITION_TAINTS: ReadonlyMap<string, string> = new Map([
  ["Ready=False", NODE_TAINTS.notReady],
  ["Ready=Unknown", NODE_TAINTS.unreachable],
  ["MemoryPressure=True", NODE_TAINTS.memoryPressure],
  ["DiskPressure=True", NODE_TAINTS.diskPressure],
  ["NetworkUnavailable=True", NODE_TAINTS.networkUnavailable],
  ["PIDPressure=True", NODE_TAINTS.pidPressure],
]);

/** Taints of these keys and the effect NoSchedule say what the conditions say; by hand they last no longer. */
const CONDITION_KEYS: ReadonlySet<string> = new Set([...CONDITION_TAINTS.values(), NODE_TAINTS.unschedulable]);

/** The taints that the node should have; undefined when it has them. Those of others stay as they are. */
export function computeNodeTaints(node: Node, eviction: EvictionState, now: string): Taint[] | undefined {
  const { taints = [] } = node.spec ?? {};
  const wanted = [...wantedForScheduling(node, taints), ...wantedForEviction(node, taints, eviction)];
  const kept = taints.filter((taint) => !isOurs(taint) || wanted.some((other) => isSame(other, taint)));
  const added = wanted.filter((taint) => !taints.some((other) => isSame(other, taint)));
  if (added.length === 0 && kept.length === taints.length) return undefined;
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))];
}

/** Whether pods are asked to leave because the node is not ready. */
export function isGivenUp({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(isEviction);
}

function wantedForScheduling(node: Node, taints: readonly Taint[]): Taint[] {
  const keys = (node.status?.conditions ?? []).flatMap(({ type, status }) => {
    return CONDITION_TAINTS.get(`${type}=${status}`) ?? [];
  });
  if (node.spec?.unschedulable === true) keys.push(NODE_TAINTS.unschedulable);
  // A node comes into being as not ready, and is so until it says something else.
  const isNew =
    readinessOf(node) === undefined &&
    taints.some(({ key, effect }) => key === NODE_TAINTS.notReady && effect === "NoSchedule");
  if (isNew) keys.push(NODE_TAINTS.notReady);
  return keys.map((key) => ({ key, effect: "NoSchedule" }));
}

/** Not ready and unreachable exclude each other; one takes the other's place at once. */
function wantedForEviction(node: Node, taints: readonly Taint[], eviction: EvictionState): Taint[] {
  const readiness = readinessOf(node);
  if (readiness === undefined) return taints.filter(isEviction);
  if (readiness === "True" || eviction === "withdrawn") return [];
  if (eviction === "held" && !isGivenUp(node)) return [];
  return [{ key: readiness === "Unknown" ? NODE_TAINTS.unreachable : NODE_TAINTS.notReady, effect: "NoExecute" }];
}

function isEviction({ key, effect }: Taint): boolean {
  return effect === "NoExecute" && (key === NODE_TAINTS.notReady || key === NODE_TAINTS.unreachable);
}

function isOurs(taint: Taint): boolean {
  return isEviction(taint) || (taint.effect === "NoSchedule" && CONDITION_KEYS.has(taint.key));
}

const isSame = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
