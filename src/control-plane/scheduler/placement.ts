import { computeNamedNodes } from "../../api/selectors/node-selector.ts";
import { assert } from "../../base/assert.ts";
import type { Cluster, NodeInfo, PendingPod } from "./cluster.ts";
import type { NodeSearch } from "./describe-placement.ts";
import { checkDeviceClaims, createDevicePlanner, type DevicePlan, movableClaimsOf } from "./devices/plan-devices.ts";
import { formatUnfit } from "./diagnosis.ts";
import type { FilteredOut } from "./filters/all-filters.ts";
import type { ClusterChange } from "./filters/filter.ts";
import { checkClaims } from "./filters/volumes.ts";
import { createFitCheck } from "./fit.ts";
import { createVolumePlanner, hasWork, type VolumePlan } from "./plan-volumes.ts";
import type { PodInfo } from "./pod-info.ts";
import { type Budget, type Preemption, planPreemption } from "./preemption.ts";
import { rankNodes } from "./score.ts";

/** The decision about a pod that looks for a node. */
export type Placement =
  | {
      readonly kind: "bind";
      readonly nodeName: string;
      /** The claims of devices that are written before. */
      readonly devices: DevicePlan;
      readonly search: NodeSearch;
    }
  /** The pod goes to the node as soon as its claims have their volumes. */
  | { readonly kind: "prepare"; readonly nodeName: string; readonly volumes: VolumePlan }
  | {
      readonly kind: "wait";
      readonly message: string;
      /** Why each node was turned down; empty where a reason rules out all of them. */
      readonly refusals: NodeSearch["refusals"];
      readonly helpedBy: ReadonlySet<ClusterChange>;
      /** The pods to evict for it. */
      readonly preemption: Preemption | undefined;
      /** The node on which room is being made for it; "" for none. */
      readonly nominatedNode: string;
      /** The claims that give their devices back, because it does not fit where these are. */
      readonly released: readonly DevicePlan[number]["claim"][];
    };

interface PlacementQuestion {
  readonly pod: PendingPod;
  readonly cluster: Cluster;
  /** The pods for which room is being made. */
  readonly nominated: readonly PodInfo[];
  /** Called only when pods would have to be evicted. */
  readBudgets(): readonly Budget[];
}

const NO_NODES = "no nodes available to schedule pods";

/** Decides where the pod goes, or why and for which changes it waits. Pure: the caller carries out the decision. */
export function planPlacement(question: PlacementQuestion): Placement {
  const { pod, cluster, nominated } = question;
  if (cluster.nodes.length === 0) return waiting(NO_NODES, ["node"], pod.info.nominatedNode);
  const ruledOut = ruleOut(pod, cluster);
  if (ruledOut !== undefined) return unfit(question, { atAll: ruledOut.reason }, ruledOut);
  const check = createFitCheck(pod, cluster, nominated);
  const rejections = new Map<string, FilteredOut>();
  const fitting = cluster.nodes.filter((node) => {
    const rejection = check(node);
    if (rejection !== undefined) rejections.set(node.name, rejection);
    return rejection === undefined;
  });
  // Pods were evicted to make room there, which would be wasted if the pod went elsewhere.
  const promised = fitting.find(({ name }) => name === pod.info.nominatedNode);
  const ranking = rankNodes(pod, fitting, cluster);
  const node = promised ?? fitting.find(({ name }) => name === ranking[0]?.name);
  const refusals = refusalsOf(cluster, rejections);
  if (node !== undefined) return placeOn(node, question, { ranking, refusals });
  const reasons = [...rejections.values()].map((rejection) => rejection.reasons);
  const helpedBy = [...rejections.values()].flatMap((rejection) => rejection.helpedBy);
  return unfit(question, { reasons }, { helpedBy, rejections });
}

function refusalsOf(cluster: Cluster, rejections: ReadonlyMap<string, FilteredOut>): NodeSearch["refusals"] {
  return cluster.nodes.flatMap((node) => {
    const rejection = rejections.get(node.name);
    return rejection === undefined ? [] : [{ node, rejection }];
  });
}

function placeOn(node: NodeInfo, { pod, cluster }: PlacementQuestion, search: NodeSearch): Placement {
  const { name: nodeName } = node;
  const { info, deviceClaims } = pod;
  const volumes = info.claims.length === 0 ? undefined : createVolumePlanner(pod, cluster)(node);
  assert(typeof volumes !== "string", `a node without volumes for ${info.key} passed the filters`);
  if (volumes !== undefined && hasWork(volumes)) return { kind: "prepare", nodeName, volumes };
  const devices = deviceClaims.length === 0 ? [] : createDevicePlanner(pod, cluster)(node);
  assert(!("reason" in devices), `a node without devices for ${info.key} passed the filters`);
  return { kind: "bind", nodeName, devices, search };
}

/** The reason that rules out all nodes; undefined when there is none. */
function ruleOut(
  pod: PendingPod,
  cluster: Cluster,
): { reason: string; helpedBy: readonly ClusterChange[] } | undefined {
  const claims = checkClaims(pod, cluster);
  if (claims !== undefined) return { reason: claims, helpedBy: ["storage"] };
  const devices = checkDeviceClaims(pod, cluster);
  if (devices !== undefined) return { reason: devices, helpedBy: ["device"] };
  const isContradiction = computeNamedNodes(pod.spec)?.size === 0;
  return isContradiction ? { reason: "pod affinity terms conflict", helpedBy: [] } : undefined;
}

function unfit(
  { pod, cluster, nominated, readBudgets }: PlacementQuestion,
  why: Parameters<typeof formatUnfit>[1],
  { helpedBy, rejections = new Map() }: Hindrance,
): Placement {
  const released = movableClaimsOf(pod, cluster);
  const refusals = refusalsOf(cluster, rejections);
  if (released.length > 0) {
    // Devices that nobody uses are given back before a pod is evicted.
    const message = formatUnfit(cluster.nodes.length, why);
    return { ...waiting(message, [...helpedBy, "device"], pod.info.nominatedNode), refusals, released };
  }
  const plan = planPreemption({ pod, cluster, nominated, rejections, budgets: readBudgets() });
  const total = cluster.nodes.length;
  if (plan.kind === "preempt") {
    const { preemption } = plan;
    return {
      ...waiting(formatUnfit(total, why), helpedBy, preemption.nodeName),
      refusals,
      preemption,
    };
  }
  const nominatedNode = plan.keepsNomination ? pod.info.nominatedNode : "";
  return { ...waiting(formatUnfit(total, why, plan.message), helpedBy, nominatedNode), refusals };
}

interface Hindrance {
  readonly helpedBy: readonly ClusterChange[];
  readonly rejections?: ReadonlyMap<string, FilteredOut>;
}

function waiting(message: string, helpedBy: readonly ClusterChange[], nominatedNode: string) {
  return {
    kind: "wait",
    message,
    refusals: [],
    helpedBy: new Set(helpedBy),
    preemption: undefined,
    nominatedNode,
    released: [],
  } as const;
}
