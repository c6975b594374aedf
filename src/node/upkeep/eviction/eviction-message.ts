import type { Container } from "../../../api/gen/types.ts";
import { addQuantities, compareQuantities } from "../../../api/quantity.ts";
import { amountOf } from "../../../api/resources.ts";
import type { EvictionThreshold } from "../../../config/eviction-thresholds.ts";
import type { ContainerUse } from "./pod-consumption.ts";
import type { Candidate } from "./rank-pods.ts";
import { formatAmount, SIGNALS, type SignalObservations, type StarvedResource, thresholdQuantity } from "./signals.ts";

/** The reason for an eviction, as the pod's status and its event give it. */
export interface EvictionWords {
  readonly message: string;
  /** The annotations of the event. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** A container, or the pod as a whole, that uses more than it requested. */
interface Offender {
  readonly name: string;
  readonly usage: string;
}

/**
 * Composes the message in upstream's words (`evictionMessage`, pkg/kubelet/eviction/helpers.go), for which tools
 * search. `due` holds the thresholds that call for evictions, the most urgent first.
 */
export function composeEvictionWords(
  resource: StarvedResource,
  { pod, usage }: Candidate,
  { due, observations }: { readonly due: readonly EvictionThreshold[]; readonly observations: SignalObservations },
): EvictionWords {
  const low = `The node was low on resource: ${resource}. ${describeThreshold(resource, due, observations)}`;
  if (usage === undefined) return { message: low, annotations: {} };
  const ofPod = usage.memory?.workingSetBytes;
  const podRequest = pod.spec?.resources?.requests?.["memory"];
  const isPodBlamed = resource === "memory" && podRequest !== undefined && ofPod !== undefined;
  const offendingPod = isPodBlamed
    ? { name: pod.metadata?.name ?? "", usage: formatAmount(ofPod, "BinarySI"), request: canonical(podRequest) }
    : undefined;
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const known = [...containers, ...initContainers];
  const offenders: Offender[] = [];
  let blame = "";
  for (const measured of usage.containers) {
    const container = known.find(({ name }) => name === measured.name);
    const used = usedBy(measured, resource);
    if (container === undefined || used === undefined) continue;
    const request = requestOf(container, resource);
    if (compareQuantities(String(used), request) <= 0) continue;
    const offender = { name: measured.name, usage: formatAmount(used, "BinarySI") };
    offenders.push(offender);
    blame += describeOffender("Container", offender, { request, resource });
  }
  const podBlame = offendingPod
    ? describeOffender("Pod", offendingPod, { request: offendingPod.request, resource })
    : "";
  return {
    message: `${low}${podBlame}${blame}`,
    annotations: {
      ...(offendingPod && { offending_pod: offendingPod.name, offending_pod_usage: offendingPod.usage }),
      offending_containers: offenders.map(({ name }) => name).join(","),
      offending_containers_usage: offenders.map((offender) => offender.usage).join(","),
      starved_resource: resource,
    },
  };
}

function describeThreshold(
  resource: StarvedResource,
  due: readonly EvictionThreshold[],
  observations: SignalObservations,
): string {
  for (const { signal, value } of due) {
    const observed = observations.get(signal);
    const { resource: starved, format } = SIGNALS[signal];
    if (starved !== resource || observed === undefined) continue;
    const available = formatAmount(observed.available, format);
    return `Threshold quantity: ${thresholdQuantity(value, observed.capacity)}, available: ${available}. `;
  }
  return "";
}

function describeOffender(
  what: "Pod" | "Container",
  { name, usage }: Offender,
  { request, resource }: { readonly request: string; readonly resource: StarvedResource },
): string {
  return `${what} ${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `;
}

/**
 * Returns a container's use of the resource. The result is undefined for inodes and processes, because their use is not
 * known by container and so no container is blamed.
 */
function usedBy({ memory, rootfs, logs }: ContainerUse, resource: StarvedResource): number | undefined {
  if (resource === "memory") return memory?.workingSetBytes;
  if (resource !== "ephemeral-storage" || rootfs?.usedBytes === undefined || logs?.usedBytes === undefined)
    return undefined;
  return rootfs.usedBytes + logs.usedBytes;
}

function requestOf({ resources }: Container, resource: StarvedResource): string {
  return canonical(amountOf(resources?.requests ?? {}, resource) ?? "0");
}

function canonical(quantity: string): string {
  return addQuantities("0", quantity);
}
