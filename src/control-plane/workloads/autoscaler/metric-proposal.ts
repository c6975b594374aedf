import type { MetricSpec, MetricStatus, MetricTarget, LabelSelector as SelectorField } from "../../../api/gen/types.ts";
import { formatQuantity, quantityMilliValue } from "../../../api/quantity.ts";
import { computeReplicaCount, type UsageInput } from "./replica-count.ts";

/** How many replicas one metric asks for. */
export type MetricProposal =
  | {
      readonly kind: "proposed";
      readonly replicas: number;
      /** How messages name the metric. */
      readonly metric: string;
      readonly status: MetricStatus;
    }
  | {
      readonly kind: "failed";
      /** For the condition and the event. */
      readonly reason: string;
      /** For the condition and the event. */
      readonly message: string;
      /** What the autoscaler as a whole says of it. */
      readonly summary: string;
    };

/** What all metrics of an autoscaler are computed of. */
type ProposalInput = Omit<UsageInput, "resource" | "target"> & { readonly namespace: string };

const NANOS_PER_MILLI = 1_000_000n;
const NO_CUSTOM_METRICS =
  "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";

/**
 * How many replicas a metric asks for. Metrics of pods, of objects and from outside come of servers of others, which are
 * not asked: it is as in a cluster without them.
 */
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
  if (type === "Pods" && pods) {
    const message = `unable to get metric ${pods.metric.name}: ${NO_CUSTOM_METRICS}`;
    return unavailable("FailedGetPodsMetric", message, "failed to get pods metric value: ");
  }
  if (type === "Object" && object) {
    const { kind, name } = object.describedObject;
    const reason = `${NO_CUSTOM_METRICS} on ${kind} ${input.namespace}/${name}`;
    const message = `unable to get metric ${object.metric.name}: ${reason}`;
    const detail = object.target.type === "AverageValue" ? `failed to get ${object.metric.name} object metric: ` : "";
    return unavailable("FailedGetObjectMetric", message, `failed to get object metric value: ${detail}`);
  }
  if (type === "External" && external) {
    const { name, selector } = external.metric;
    const path = `${input.namespace}/${name}/${selectorDump(selector)}`;
    const missing = `the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`;
    const message = `unable to get external metric ${path}: unable to fetch metrics from external metrics API: ${missing}`;
    const isAverage = external.target.averageValue !== undefined;
    const detail = isAverage ? `failed to get ${name} external metric` : `failed to get external metric ${name}`;
    return unavailable("FailedGetExternalMetric", message, `failed to get ${name} external metric value: ${detail}: `);
  }
  const message = `unknown metric source type ${JSON.stringify(type)}`;
  return { kind: "failed", reason: "InvalidMetricSourceType", message, summary: message };
}

function unavailable(reason: string, message: string, prefix: string): MetricProposal {
  return { kind: "failed", reason, message, summary: `${prefix}${message}` };
}

/** Upstream's messages show the selector as its program does. */
function selectorDump(selector: SelectorField | undefined): string {
  if (selector === undefined) return "nil";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}: ${value},`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    return `{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`;
  });
  const all = `[]LabelSelectorRequirement{${expressions.join("")}}`;
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:${all},}`;
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
