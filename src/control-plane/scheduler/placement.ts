import { computeNamedNodes } from "../../api/selectors/node-selector.ts";
import { assert } from "../../base/assert.ts";
import type { Cluster, NodeInfo, PendingPod } from "./cluster.ts";
import { formatUnfit } from "./diagnosis.ts";
import type { FilteredOut } from "./filters/all-filters.ts";
import type { ClusterChange } from "./filters/filter.ts";
import { checkClaims } from "./filters/volumes.ts";
import { createFitCheck } from "./fit.ts";
import { createVolumePlanner, hasWork, type VolumePlan } from "./plan-volumes.ts";
import type { PodInfo } from "./pod-info.ts";
import { type Budget, type Preemption, planPreemption } from "./preemption.ts";
import { chooseNode } from "./score.ts";

/** What becomes of a pod that looks for a node. */
export type Placement =
  | { readonly kind: "bind"; readonly nodeName: string }
  /** It goes there as soon as its claims have their volumes. */
  | { readonly kind: "prepare"; readonly nodeName: string; readonly volumes: VolumePlan }
  | {
      readonly kind: "wait";
      readonly message: string;
      readonly helpedBy: ReadonlySet<ClusterChange>;
      /** Whom to send away for it. */
      readonly preemption: Preemption | undefined;
      /** Where room is being made for it; "" for nowhere. */
      readonly nominatedNode: string;
    };

interface PlacementQuestion {
  readonly pod: PendingPod;
  readonly cluster: Cluster;
  /** Pods for which room is being made. */
  readonly nominated: readonly PodInfo[];
  /** Asked only when others must go. */
  readBudgets(): readonly Budget[];
}

const NO_NODES = "no nodes available to schedule pods";

/** Where the pod goes, or why it must wait and for what. Pure: the caller does it. */
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
  // Others made room there: it is not wasted by going elsewhere.
  const promised = fitting.find(({ name }) => name === pod.info.nominatedNode);
  const node = promised ?? chooseNode(pod, fitting, cluster);
  if (node !== undefined) return placeOn(node, question);
  const reasons = [...rejections.values()].map((rejection) => rejection.reasons);
  const helpedBy = [...rejections.values()].flatMap((rejection) => rejection.helpedBy);
  return unfit(question, { reasons }, { helpedBy, rejections });
}

function placeOn(node: NodeInfo, { pod, cluster }: PlacementQuestion): Placement {
  const { name: nodeName } = node;
  if (pod.info.claims.length === 0) return { kind: "bind", nodeName };
  const volumes = createVolumePlanner(pod, cluster)(node);
  assert(typeof volumes !== "string", `a node without volumes for ${pod.info.key} passed the filters`);
  return hasWork(volumes) ? { kind: "prepare", nodeName, volumes } : { kind: "bind", nodeName };
}

/** What no node can help. */
function ruleOut(
  pod: PendingPod,
  cluster: Cluster,
): { reason: string; helpedBy: readonly ClusterChange[] } | undefined {
  const claims = checkClaims(pod, cluster);
  if (claims !== undefined) return { reason: claims, helpedBy: ["storage"] };
  const isContradiction = computeNamedNodes(pod.spec)?.size === 0;
  return isContradiction ? { reason: "pod affinity terms conflict", helpedBy: [] } : undefined;
}

function unfit(
  { pod, cluster, nominated, readBudgets }: PlacementQuestion,
  why: Parameters<typeof formatUnfit>[1],
  { helpedBy, rejections = new Map() }: Hindrance,
): Placement {
  const plan = planPreemption({ pod, cluster, nominated, rejections, budgets: readBudgets() });
  const total = cluster.nodes.length;
  if (plan.kind === "preempt") {
    const { preemption } = plan;
    return {
      ...waiting(formatUnfit(total, why), helpedBy, preemption.nodeName),
      preemption,
    };
  }
  const nominatedNode = plan.keepsNomination ? pod.info.nominatedNode : "";
  return waiting(formatUnfit(total, why, plan.message), helpedBy, nominatedNode);
}

interface Hindrance {
  readonly helpedBy: readonly ClusterChange[];
  readonly rejections?: ReadonlyMap<string, FilteredOut>;
}

function waiting(message: string, helpedBy: readonly ClusterChange[], nominatedNode: string) {
  return { kind: "wait", message, helpedBy: new Set(helpedBy), preemption: undefined, nominatedNode } as const;
}
