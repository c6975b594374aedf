import type {
  ExternalMetricSource,
  MetricIdentifier,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  LabelSelector as SelectorField,
} from "../../../api/gen/types.ts";
import { formatQuantity, quantityMilliValue } from "../../../api/quantity.ts";
import { countByTotal } from "./foreign-count.ts";
import type { MetricProposal, ProposalInput } from "./proposal.ts";
import { countByMeasures } from "./replica-count.ts";

const NANOS_PER_MILLI = 1_000_000n;
const MAX_INT64 = 2n ** 63n - 1n;
/** A metric that is called `cpu` is not the processor all the same. */
const ANY_RESOURCE = { name: "", container: undefined };

/** How many replicas a metric asks for that an adapter knows of each pod. */
export function proposeByPods({ metric, target }: PodsMetricSource, input: ProposalInput): MetricProposal {
  const { reading } = input;
  const failed = (message: string) => fail("FailedGetPodsMetric", message, "failed to get pods metric value: ");
  if (reading.kind === "failed") return failed(`unable to get metric ${metric.name}: ${reading.message}`);
  const count = countByMeasures({
    ...input,
    resource: ANY_RESOURCE,
    measures: new Map(reading.values.map(({ name, milliValue }) => [name, { at: 0, windowMs: 0, milliValue }])),
    target: { kind: "value", milliValue: quantityMilliValue(target.averageValue ?? "0") },
  });
  if (count.kind === "failed") return failed(count.message);
  const current = { averageValue: showMilliValue(count.averageMilliValue) };
  const { replicas } = count;
  const status = { type: "Pods", pods: { metric, current } };
  return { kind: "proposed", replicas, metric: `pods metric ${metric.name}`, status };
}

/** How many replicas a metric asks for that an adapter knows of an object. */
export function proposeByObject(
  { describedObject, metric, target }: ObjectMetricSource,
  input: ProposalInput,
): MetricProposal {
  const { kind, name } = describedObject;
  const wanted =
    target.type === "Value" || target.type === "AverageValue" ? totalTarget(target, target.type) : undefined;
  const isAverage = wanted?.kind === "each";
  const detail = isAverage ? `failed to get ${metric.name} object metric: ` : "";
  const failed = (message: string) => {
    return fail("FailedGetObjectMetric", message, `failed to get object metric value: ${detail}`);
  };
  if (wanted === undefined) {
    return failed("invalid object metric source: neither a value target nor an average value target was set");
  }
  const { reading, namespace } = input;
  if (reading.kind === "failed") {
    return failed(`unable to get metric ${metric.name}: ${reading.message} on ${kind} ${namespace}/${name}`);
  }
  const count = countByTotal({ ...input, target: wanted, milliValue: totalOf(input) });
  if (count.kind === "failed") return failed(count.message);
  const current = currentOf(isAverage, count.milliValue);
  return {
    kind: "proposed",
    replicas: count.replicas,
    metric: isAverage ? externalName(metric) : `${kind} metric ${metric.name}`,
    status: { type: "Object", object: { describedObject, metric, current } },
  };
}

/** How many replicas a metric asks for that has nothing to do with the cluster's objects. */
export function proposeByExternal({ metric, target }: ExternalMetricSource, input: ProposalInput): MetricProposal {
  const { name, selector } = metric;
  const wanted = totalTarget(target, target.averageValue === undefined ? "Value" : "AverageValue");
  const isAverage = wanted?.kind === "each";
  const detail = isAverage ? `failed to get ${name} external metric: ` : `failed to get external metric ${name}: `;
  const prefix = `failed to get ${name} external metric value: ${wanted === undefined ? "" : detail}`;
  const failed = (message: string) => fail("FailedGetExternalMetric", message, prefix);
  if (wanted === undefined) {
    return failed("invalid external metric source: neither a value target nor an average value target was set");
  }
  const { reading, namespace } = input;
  if (reading.kind === "failed") {
    const path = `${namespace}/${name}/${selectorDump(selector)}`;
    return failed(`unable to get external metric ${path}: ${reading.message}`);
  }
  const count = countByTotal({ ...input, target: wanted, milliValue: totalOf(input) });
  if (count.kind === "failed") return failed(count.message);
  const current = currentOf(isAverage, count.milliValue);
  const { replicas } = count;
  return {
    kind: "proposed",
    replicas,
    metric: externalName(metric),
    status: { type: "External", external: { metric, current } },
  };
}

function fail(reason: string, message: string, prefix: string): MetricProposal {
  return { kind: "failed", reason, message, summary: `${prefix}${message}` };
}

function totalTarget({ value, averageValue }: MetricTarget, type: "Value" | "AverageValue") {
  const text = type === "Value" ? value : averageValue;
  if (text === undefined) return undefined;
  return { kind: type === "Value" ? "total" : "each", milliValue: quantityMilliValue(text) } as const;
}

/** Upstream counts no further either. */
function totalOf({ reading }: ProposalInput): bigint {
  const values = reading.kind === "values" ? reading.values : [];
  const sum = values.reduce((total, { milliValue }) => total + milliValue, 0n);
  return sum > MAX_INT64 ? MAX_INT64 : sum;
}

function currentOf(isAverage: boolean, milliValue: bigint) {
  const text = showMilliValue(milliValue);
  return isAverage ? { averageValue: text } : { value: text };
}

const showMilliValue = (milliValue: bigint) =>
  formatQuantity({ nanos: milliValue * NANOS_PER_MILLI, format: "DecimalSI" });

const externalName = ({ name, selector }: MetricIdentifier) => `external metric ${name}(${selectorDump(selector)})`;

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
