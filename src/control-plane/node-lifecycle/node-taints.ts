import type { Node, Taint } from "../../api/gen/types.ts";
import { readinessOf } from "./node-conditions.ts";

/** What may become of pods on nodes that are not ready. */
export type EvictionState =
  /** They are evicted, when they do not tolerate it any longer. */
  | "allowed"
  /** No node is given up that was not given up before. */
  | "held"
  /** No node is given up: rather they all seem to be gone than that they are. */
  | "withdrawn";

const PREFIX = "node.kubernetes.io/";
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;
const UNSCHEDULABLE = `${PREFIX}unschedulable`;

/** By condition and its status: which taint keeps new pods off (`nodelifecycle`'s table). */
const CONDITION_TAINTS: ReadonlyMap<string, string> = new Map([
  ["Ready=False", NOT_READY],
  ["Ready=Unknown", UNREACHABLE],
  ["MemoryPressure=True", `${PREFIX}memory-pressure`],
  ["DiskPressure=True", `${PREFIX}disk-pressure`],
  ["NetworkUnavailable=True", `${PREFIX}network-unavailable`],
  ["PIDPressure=True", `${PREFIX}pid-pressure`],
]);

/** Taints of these keys and the effect NoSchedule say what the conditions say; by hand they last no longer. */
const CONDITION_KEYS: ReadonlySet<string> = new Set([...CONDITION_TAINTS.values(), UNSCHEDULABLE]);

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
  if (node.spec?.unschedulable === true) keys.push(UNSCHEDULABLE);
  // A node comes into being as not ready, and is so until it says something else.
  const isNew =
    readinessOf(node) === undefined && taints.some(({ key, effect }) => key === NOT_READY && effect === "NoSchedule");
  if (isNew) keys.push(NOT_READY);
  return keys.map((key) => ({ key, effect: "NoSchedule" }));
}

/** Not ready and unreachable exclude each other; one takes the other's place at once. */
function wantedForEviction(node: Node, taints: readonly Taint[], eviction: EvictionState): Taint[] {
  const readiness = readinessOf(node);
  if (readiness === undefined) return taints.filter(isEviction);
  if (readiness === "True" || eviction === "withdrawn") return [];
  if (eviction === "held" && !isGivenUp(node)) return [];
  return [{ key: readiness === "Unknown" ? UNREACHABLE : NOT_READY, effect: "NoExecute" }];
}

function isEviction({ key, effect }: Taint): boolean {
  return effect === "NoExecute" && (key === NOT_READY || key === UNREACHABLE);
}

function isOurs(taint: Taint): boolean {
  return isEviction(taint) || (taint.effect === "NoSchedule" && CONDITION_KEYS.has(taint.key));
}

const isSame = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
