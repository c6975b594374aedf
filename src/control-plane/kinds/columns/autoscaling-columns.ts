import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus } from "../../../api/gen/types.ts";
import { firstOf } from "./cell-text.ts";
import { AGE, columnsOf, NAME } from "./column.ts";

const SHOWN_METRICS = 2;

export const HORIZONTAL_POD_AUTOSCALER_COLUMNS = columnsOf("HorizontalPodAutoscaler", [
  NAME,
  {
    name: "Reference",
    description: "What is scaled.",
    cell: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
  },
  { name: "Targets", description: "What each metric is, and what it should be.", cell: metricsText },
  {
    name: "MinPods",
    description: "The fewest pods that it scales down to.",
    cell: ({ spec }) => (spec.minReplicas === undefined ? "<unset>" : `${spec.minReplicas}`),
  },
  { name: "MaxPods", description: "The most pods that it scales up to.", cell: ({ spec }) => spec.maxReplicas },
  {
    name: "Replicas",
    description: "How many pods there were when it last looked.",
    cell: ({ status }) => status?.currentReplicas ?? 0,
  },
  AGE,
]);

/** The columns of a scale, whatever it is of. */
export const SCALE_COLUMNS = columnsOf("Scale", [
  NAME,
  {
    name: "Desired",
    type: "integer",
    description: "How many replicas are wanted.",
    cell: ({ spec }) => spec?.replicas ?? 0,
  },
  {
    name: "Available",
    type: "integer",
    description: "How many replicas there are.",
    cell: ({ status }) => status?.replicas ?? 0,
  },
  AGE,
]);

function metricsText({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec.metrics ?? [];
  if (metrics.length === 0) return "<none>";
  const texts = metrics.map((metric, index) => metricText(metric, status?.currentMetrics?.[index]));
  return firstOf(texts, SHOWN_METRICS, ", ");
}

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  switch (metric.type) {
    case "External":
      return amountText(metric.external, status?.external);
    case "Object":
      return amountText(metric.object, status?.object);
    case "Pods":
      return `${status?.pods?.current.averageValue ?? "<unknown>"}/${metric.pods?.target.averageValue ?? "0"}`;
    case "Resource":
      return usageText(metric.resource, status?.resource);
    case "ContainerResource":
      return usageText(metric.containerResource, status?.containerResource);
    default:
      return "<unknown type>";
  }
}

type Target = NonNullable<MetricSpec["resource"]>["target"];
type Current = NonNullable<MetricStatus["resource"]>["current"];

/** The text of a metric that is an amount outside of the pods. */
function amountText(metric: { target: Target } | undefined, status: { current: Current } | undefined): string {
  const { averageValue, value = "0" } = metric?.target ?? {};
  if (averageValue !== undefined) return `${status?.current.averageValue ?? "<unknown>"}/${averageValue} (avg)`;
  return `${status?.current.value ?? "<unknown>"}/${value}`;
}

/** The text of a metric of the pods' resources: an amount, or a share of their requests. */
function usageText(
  metric: { name: string; target: Target } | undefined,
  status: { current: Current } | undefined,
): string {
  const { averageValue, averageUtilization } = metric?.target ?? {};
  const name = metric?.name ?? "";
  if (averageValue !== undefined) return `${name}: ${status?.current.averageValue ?? "<unknown>"}/${averageValue}`;
  const used = status?.current.averageUtilization;
  const current = used === undefined ? "<unknown>" : `${used}%`;
  return `${name}: ${current}/${averageUtilization === undefined ? "<auto>" : `${averageUtilization}%`}`;
}
