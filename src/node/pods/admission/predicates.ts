import type { Node, Pod } from "../../../api/gen/types.ts";
import { hostPortsOf, isSameHostPort } from "../../../api/host-ports.ts";
import { NODE_LABELS } from "../../../api/node-names.ts";
import { type Amounts, amountsOf, computeRequests } from "../../../api/pod-requests.ts";
import { isStaticPod } from "../../../api/pods.ts";
import { matchesNodeAffinity } from "../../../api/selectors/node-selector.ts";
import { findUntolerated } from "../../../api/tolerations.ts";
import type { PodRejection } from "./pod-rejection.ts";

/** A pod and what it has to fit. */
interface PredicateInput {
  readonly pod: Pod;
  readonly node: Node;
  /** The pods that take something of the node already. */
  readonly others: readonly Pod[];
}

/** Why a pod does not fit. `isOfNodeObject`: labels or taints of the node, as they are now, may say otherwise. */
interface UnmetPredicate extends PodRejection {
  readonly isOfNodeObject: boolean;
  /** The resource that others would have to give back; undefined where that would not help. */
  readonly missing?: MissingResource;
}

/** How much of a resource a pod lacks: millicores of `cpu`, bytes or pieces of any other. */
export interface MissingResource {
  readonly resource: string;
  readonly amount: bigint;
}

/** Resources that are checked first, in upstream's order. */
const FIRST_RESOURCES = ["cpu", "memory", "ephemeral-storage"];

/**
 * All predicates that keep the pod from this node, in the order in which they are told: resources, affinity, name,
 * ports, taints (upstream: pkg/kubelet/lifecycle/predicate.go and pkg/scheduler's AdmissionCheck).
 */
export function findUnmetPredicates({ pod, node, others }: PredicateInput): UnmetPredicate[] {
  const name = node.metadata?.name ?? "";
  const unmet = findMissingResources({ pod, node, others });
  const fail = (predicate: string, why: string, isOfNodeObject = false) =>
    unmet.push({ reason: predicate, message: `Predicate ${predicate} failed: ${why}`, isOfNodeObject });
  if (pod.spec && !matchesNodeAffinity(pod.spec, { name, labels: node.metadata?.labels ?? {} })) {
    fail("NodeAffinity", "node(s) didn't match Pod's node affinity/selector", true);
  }
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== "" && pod.spec.nodeName !== name) {
    fail("NodeName", "node(s) didn't match the requested node name");
  }
  const taken = others.flatMap(hostPortsOf);
  if (hostPortsOf(pod).some((wanted) => taken.some((port) => isSameHostPort(port, wanted)))) {
    fail("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  }
  const untolerated = findUntolerated(node.spec?.taints ?? [], pod.spec?.tolerations ?? [], ["NoExecute"]);
  if (untolerated !== undefined && !isStaticPod(pod)) {
    fail("TaintToleration", "node(s) had taints that the pod didn't tolerate", true);
  }
  return unmet;
}

function findMissingResources({ pod, node, others }: PredicateInput): UnmetPredicate[] {
  const allocatable = amountsOf(node.status?.allocatable ?? {});
  const missing: UnmetPredicate[] = [];
  const demand = (name: string, { requested, used }: { requested: bigint; used: bigint }) => {
    const capacity = allocatable.get(name) ?? 0n;
    if (requested <= capacity - used) return;
    const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
    const message = `Node didn't have enough resource: ${name}, ${amounts}`;
    const amount = requested - (capacity - used);
    missing.push({ reason: `OutOf${name}`, message, isOfNodeObject: false, missing: { resource: name, amount } });
  };
  demand("pods", { requested: 1n, used: BigInt(others.length) });
  const requests = computeRequests(pod);
  const used = sumAmounts(others.map(computeRequests));
  const names = [...FIRST_RESOURCES, ...[...requests.keys()].filter((name) => !FIRST_RESOURCES.includes(name))];
  for (const name of names) {
    const requested = requests.get(name) ?? 0n;
    // The cluster, not the node, counts a resource that the node does not list, or its device has not registered yet.
    const isUnknown = name.includes("/") && !Object.hasOwn(node.status?.allocatable ?? {}, name);
    if (requested > 0n && !isUnknown) demand(name, { requested, used: used.get(name) ?? 0n });
  }
  return missing;
}

function sumAmounts(all: readonly Amounts[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const amounts of all) for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0n) + amount);
  return sum;
}

/** Refuses pods of other operating systems, which no node of this kind runs. */
export function rejectForeignSystem({ metadata, spec }: Pod): PodRejection | undefined {
  const label = metadata?.labels?.[NODE_LABELS.os];
  if (label !== undefined && label !== "linux") {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: "PodOSSelectorNodeLabelDoesNotMatch", message };
  }
  if (spec?.os !== undefined && spec.os.name !== "linux") {
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  return undefined;
}

/** Refuses a policy that the runtime does not know: it would give the containers groups that the pod does not want. */
export function rejectGroupsPolicy(pod: Pod, isSupported: boolean): PodRejection | undefined {
  if (isSupported || pod.spec?.securityContext?.supplementalGroupsPolicy !== "Strict") return undefined;
  const message = "SupplementalGroupsPolicy=Strict is not supported in this node";
  return { reason: "SupplementalGroupsPolicyNotSupported", message };
}
