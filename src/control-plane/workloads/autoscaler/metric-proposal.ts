import type { MetricSpec, MetricTarget } from "../../../api/gen/types.ts";
import { formatQuantity, quantityMilliValue } from "../../../api/quantity.ts";
import { proposeByExternal, proposeByObject, proposeByPods } from "./foreign-proposal.ts";
import type { MetricProposal, ProposalInput } from "./proposal.ts";
import { computeReplicaCount, type UsageInput } from "./replica-count.ts";

const NANOS_PER_MILLI = 1_000_000n;
/** How many replicas a metric asks for. */
export function proposeReplicas(spec: MetricSpec, input: ProposalInput): MetricProposal {
  const { type, resource, containerResource, pods, object, external } = spec;
  if (type === "Resource" && resource) {
    const { name, target } = resource;
    const usage = proposeByUsage({ name, container: undefined }, target, input);
    if (usage.kind === "failed") {
      const summary = `failed to get ${name} resource metric value: ${usage.message}`;
      return { kind: "failed", reason: "FailedGetResourceMetric", message: usage.message, summary };
    }
    return { ...usage, status: { type, resource: { name, current: usage.current } } };
  }
  if (type === "ContainerResource" && containerResource) {
    const { name, container, target } = containerResource;
    const usage = proposeByUsage({ name, container }, target, input);
    if (usage.kind === "failed") {
      const summary = `failed to get ${container} container metric value: ${usage.message}`;
      return { kind: "failed", reason: "FailedGetContainerResourceMetric", message: usage.message, summary };
    }
    return { ...usage, status: { type, containerResource: { name, container, current: usage.current } } };
  }
  if (type === "Pods" && pods) return proposeByPods(pods, input);
  if (type === "Object" && object) return proposeByObject(object, input);
  if (type === "External" && external) return proposeByExternal(external, input);
  const message = `unknown metric source type ${JSON.stringify(type)}`;
  return { kind: "failed", reason: "InvalidMetricSourceType", message, summary: message };
}

type UsageProposal =
  | {
      readonly kind: "proposed";
      readonly replicas: number;
      readonly metric: string;
      readonly current: { averageUtilization?: number; averageValue: string };
    }
  | { readonly kind: "failed"; readonly message: string };

function proposeByUsage(
  resource: UsageInput["resource"],
  { averageValue, averageUtilization }: MetricTarget,
  input: ProposalInput,
): UsageProposal {
  const { name, container } = resource;
  const target = targetOf(averageValue, averageUtilization);
  if (target === undefined) {
    const neither = "neither an average utilization target nor an average value (usage) target was set";
    return { kind: "failed", message: `invalid resource metric source: ${neither}` };
  }
  const count = computeReplicaCount({ ...input, resource, target });
  const isShare = target.kind === "utilization";
  if (count.kind === "failed") {
    return { kind: "failed", message: `failed to get ${name} ${isShare ? "utilization" : "usage"}: ${count.message}` };
  }
  const { replicas, averageMilliValue, utilization } = count;
  const what = container === undefined ? "resource" : "container resource";
  const nanos = averageMilliValue * NANOS_PER_MILLI;
  const value = formatQuantity({ nanos, format: name === "memory" ? "BinarySI" : "DecimalSI" });
  return {
    kind: "proposed",
    replicas,
    metric: isShare ? `${name} ${what} utilization (percentage of request)` : `${name} resource`,
    current: { ...(utilization !== undefined && { averageUtilization: utilization }), averageValue: value },
  };
}

function targetOf(averageValue: string | undefined, percent: number | undefined): UsageInput["target"] | undefined {
  if (averageValue !== undefined) return { kind: "value", milliValue: quantityMilliValue(averageValue) };
  return percent === undefined ? undefined : { kind: "utilization", percent };
}
