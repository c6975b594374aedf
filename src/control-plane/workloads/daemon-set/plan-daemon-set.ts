import type { DaemonSet } from "../../../api/gen/types.ts";
import type { KubeObject, ObjectOf } from "../../../api/object.ts";
import { isPodReady } from "../../../api/pods.ts";
import { parseTime } from "../../../base/clock.ts";
import { isPodAvailable } from "../pod-control/pod-standing.ts";
import { scaledCount } from "../pod-control/scaled-count.ts";
import { isUpToDate, targetNodeOf } from "./daemon-pod.ts";
import { judgeNode, type NodeEligibility } from "./node-eligibility.ts";

export type DaemonPod = ObjectOf<"Pod">;

/** A daemon set with the nodes and its pods, as they are at one moment. */
export interface DaemonView {
  readonly set: DaemonSet;
  /** The hash of the present template. */
  readonly hash: string;
  readonly now: number;
  readonly nodes: readonly NodeView[];
  /** Pods whose node does not exist, and that never got there. */
  readonly stranded: readonly DaemonPod[];
}

interface NodeView extends NodeEligibility {
  readonly name: string;
  /** The pods on the node or for it, those with a node first, then the oldest. */
  readonly pods: readonly DaemonPod[];
}

/** What to do with the pods of a daemon set. */
interface DaemonPlan {
  /** The nodes for which a pod is made. */
  readonly create: readonly string[];
  readonly remove: readonly DaemonPod[];
  /** Pods that failed: each is removed when the back-off of its node allows it. */
  readonly failed: ReadonlyArray<{ readonly node: string; readonly pod: DaemonPod }>;
  /** Pods that have ended although a daemon does not end. */
  readonly ended: ReadonlyArray<{ readonly node: string; readonly pod: DaemonPod }>;
}

/** Puts the pods to the nodes. */
export function viewDaemonSet(
  set: DaemonSet,
  {
    nodes,
    pods,
    hash,
    now,
  }: { nodes: readonly ObjectOf<"Node">[]; pods: readonly DaemonPod[]; hash: string; now: number },
): DaemonView {
  const byNode = new Map<string, DaemonPod[]>();
  for (const pod of pods.toSorted(compareAges)) {
    const name = targetNodeOf(pod) ?? "";
    byNode.set(name, [...(byNode.get(name) ?? []), pod]);
  }
  const views = nodes.map((node) => {
    const { name = "" } = node.metadata;
    return { ...judgeNode(set, node), name, pods: byNode.get(name) ?? [] };
  });
  const known = new Set(views.map(({ name }) => name));
  const stranded = pods.filter((pod) => !pod.spec?.nodeName && !known.has(targetNodeOf(pod) ?? ""));
  return { set, hash, now, nodes: views, stranded };
}

function compareAges(a: DaemonPod, b: DaemonPod): number {
  const hasNode = (pod: DaemonPod) => (pod.spec?.nodeName ? 0 : 1);
  const ageOf = ({ metadata }: KubeObject) => parseTime(metadata.creationTimestamp) ?? 0;
  const byName = (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
  return hasNode(a) - hasNode(b) || ageOf(a) - ageOf(b) || byName;
}

const isDeleted = ({ metadata }: DaemonPod) => metadata.deletionTimestamp !== undefined;

/** Plans one pod for each node that should have one, and none where none should be (`daemon_controller.go`). */
export function planDaemonPods(view: DaemonView): DaemonPlan {
  const create: string[] = [];
  const remove: DaemonPod[] = view.stranded.filter((pod) => !isDeleted(pod));
  const failed: Array<{ node: string; pod: DaemonPod }> = [];
  const ended: Array<{ node: string; pod: DaemonPod }> = [];
  for (const { name: node, pods, shouldRun, mayContinue } of view.nodes) {
    const standing = pods.filter((pod) => !isDeleted(pod));
    if (shouldRun && pods.length === 0) create.push(node);
    else if (!mayContinue) remove.push(...standing);
    else {
      const inPhase = (phase: string) => standing.filter((pod) => pod.status?.phase === phase);
      failed.push(...inPhase("Failed").map((pod) => ({ node, pod })));
      ended.push(...inPhase("Succeeded").map((pod) => ({ node, pod })));
      const running = standing.filter(({ status }) => status?.phase !== "Failed" && status?.phase !== "Succeeded");
      remove.push(...chooseSurplus(view, running));
      if (running.length === 0 && shouldRun && allowsSurge(view.set)) create.push(node);
    }
  }
  return { create, remove, failed, ended };
}

/** All but the oldest pod; during a surge the oldest of the old template may stay beside the oldest of the new one. */
function chooseSurplus(view: DaemonView, running: readonly DaemonPod[]): readonly DaemonPod[] {
  const { set, hash } = view;
  if (!allowsSurge(set)) return running.slice(1);
  if (running.length <= 1) return [];
  const newest = running.find((pod) => podHashOf(pod) === hash);
  const old = running.find((pod) => podHashOf(pod) !== hash);
  const surplus = running.filter((pod) => pod !== newest && pod !== old);
  const isReplaced = newest !== undefined && old !== undefined && (!isPodReady(old) || isAvailable(view, newest));
  return isReplaced && old !== undefined ? [...surplus, old] : surplus;
}

function podHashOf({ metadata }: DaemonPod): string {
  return metadata.labels?.["controller-revision-hash"] ?? "";
}

function isAvailable({ set, now }: DaemonView, pod: DaemonPod): boolean {
  return isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now);
}

function allowsSurge(set: DaemonSet): boolean {
  return limitsOf(set, 1).maxSurge > 0;
}

/** How many nodes may be without a pod, or have two of them, during an update. */
function limitsOf({ spec }: DaemonSet, desired: number): { maxSurge: number; maxUnavailable: number } {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  if (type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledCount(rollingUpdate?.maxSurge, desired, "up") ?? 0;
  const maxUnavailable = scaledCount(rollingUpdate?.maxUnavailable, desired, "up") ?? 0;
  // A set that could neither add nor take away would never be updated.
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

/** The pods of a node by their template; undefined where there are too many, which another step sorts out first. */
function pairOn(view: DaemonView, pods: readonly DaemonPod[]) {
  const standing = pods.filter((pod) => !isDeleted(pod));
  const [newest, ...otherNew] = standing.filter((pod) => isUpToDate(view.set, pod, view.hash));
  const [old, ...otherOld] = standing.filter((pod) => !isUpToDate(view.set, pod, view.hash));
  return otherNew.length + otherOld.length > 0 ? undefined : { newest, old };
}

/** Plans the next part of a rolling update, from a view in which nodes have the pods that they should have. */
export function planDaemonUpdate(view: DaemonView): Pick<DaemonPlan, "create" | "remove"> {
  if (view.set.spec?.updateStrategy?.type !== "RollingUpdate") return { create: [], remove: [] };
  const desired = view.nodes.filter(({ shouldRun }) => shouldRun).length;
  const { maxSurge, maxUnavailable } = limitsOf(view.set, desired);
  return maxSurge > 0 ? planSurge(view, { maxSurge, desired }) : planReplacement(view, maxUnavailable);
}

/** Deletes old pods: those that are of no use now, and of the others as many as may be missing. */
function planReplacement(view: DaemonView, maxUnavailable: number): Pick<DaemonPlan, "create" | "remove"> {
  const useless: DaemonPod[] = [];
  const candidates: DaemonPod[] = [];
  let unavailable = 0;
  for (const { pods } of view.nodes.filter((node) => node.pods.length > 0)) {
    const pair = pairOn(view, pods);
    const only = pair?.newest === undefined ? pair?.old : pair.old === undefined ? pair.newest : undefined;
    if (only === undefined || !isAvailable(view, only)) unavailable += 1;
    if (only === undefined || only === pair?.newest) continue;
    (isAvailable(view, only) ? candidates : useless).push(only);
  }
  const room = Math.max(0, maxUnavailable - unavailable);
  return { create: [], remove: [...useless, ...candidates.slice(0, room)] };
}

/** Makes new pods beside old ones, on as many nodes as may have two, and deletes the old ones that are replaced. */
function planSurge(
  view: DaemonView,
  { maxSurge, desired }: { maxSurge: number; desired: number },
): Pick<DaemonPlan, "create" | "remove"> {
  const remove: DaemonPod[] = [];
  const misplaced: DaemonPod[] = [];
  const urgent: string[] = [];
  const candidates: string[] = [];
  let [surging, available] = [0, 0];
  for (const { name, pods, shouldRun } of view.nodes.filter((node) => node.pods.length > 0)) {
    const pair = pairOn(view, pods);
    if (pair === undefined) surging += 1;
    const { newest, old } = pair ?? {};
    const serving = old ?? newest;
    if (serving !== undefined && isAvailable(view, serving)) available += 1;
    if (old === undefined) continue;
    if (newest !== undefined) {
      if (isAvailable(view, newest)) remove.push(old);
      else surging += 1;
    } else if (shouldRun) (isAvailable(view, old) ? candidates : urgent).push(name);
    else (isAvailable(view, old) ? misplaced : remove).push(old);
  }
  remove.push(...misplaced.slice(0, Math.max(0, available - desired)));
  return { create: [...urgent, ...candidates.slice(0, Math.max(0, maxSurge - surging))], remove };
}
