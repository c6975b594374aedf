import type { FieldError } from "../../../api/field-error.ts";
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from "../../../api/gen/types.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import { checkDnsLabel } from "../../../api/validation/names.ts";
import { forbidden, invalid, invalidEach, required, unsupported } from "../../../api/validation/problems.ts";
import { checkContainerResourceName } from "../../../api/validation/resources.ts";
import { checkPathSegment } from "../rules/path-segment.ts";

/** The field of a metric that belongs to each type. */
const SOURCES = {
  Object: "object",
  Pods: "pods",
  Resource: "resource",
  ContainerResource: "containerResource",
  External: "external",
} as const;

/** The problems of an autoscaler's metric. */
export function validateMetric(metric: MetricSpec, path: string): FieldError[] {
  const { type } = metric;
  const expected = Object.entries(SOURCES).find(([name]) => name === type)?.[1];
  if (expected === undefined) {
    const missing = type === "" ? [required(`${path}.type`, "must specify a metric source type")] : [];
    return [...missing, unsupported(`${path}.type`, type, Object.keys(SOURCES).sort())];
  }
  const others = Object.values(SOURCES).filter((source) => source !== expected && metric[source] !== undefined);
  return [
    ...validateSource(path, metric, expected),
    ...others.map((source) => forbidden(`${path}.${source}`, "must populate the given metric source only")),
  ];
}

function validateSource(
  path: string,
  metric: MetricSpec,
  source: (typeof SOURCES)[keyof typeof SOURCES],
): FieldError[] {
  const at = `${path}.${source}`;
  const { object, pods, external, resource, containerResource } = metric;
  if (source === "object" && object) {
    return [
      ...validateReference(`${at}.describedObject`, object.describedObject),
      ...validateIdentifier(`${at}.metric`, object.metric),
      ...validateTarget(`${at}.target`, object.target),
      ...requireAmount(`${at}.target`, object.target, "must set either a target value or averageValue"),
    ];
  }
  if (source === "external" && external) {
    const need = "must set either a target value for metric or a per-pod target";
    const { value, averageValue } = external.target;
    const both = "may not set both a target value for metric and a per-pod target";
    return [
      ...validateIdentifier(`${at}.metric`, external.metric),
      ...validateTarget(`${at}.target`, external.target),
      ...requireAmount(`${at}.target`, external.target, need),
      ...(value !== undefined && averageValue !== undefined ? [forbidden(`${at}.target.value`, both)] : []),
    ];
  }
  if (source === "pods" && pods) {
    const isMissing = pods.target.averageValue === undefined;
    return [
      ...validateIdentifier(`${at}.metric`, pods.metric),
      ...validateTarget(`${at}.target`, pods.target),
      ...(isMissing ? [required(`${at}.target.averageValue`, "must specify a positive target averageValue")] : []),
    ];
  }
  if (source === "resource" && resource) return validateUsage(at, resource);
  if (source === "containerResource" && containerResource) {
    const { container, name } = containerResource;
    const errors =
      container === ""
        ? [required(`${at}.container`, "must specify a container")]
        : invalidEach(`${at}.container`, container, checkDnsLabel(container));
    if (name !== "") errors.push(...invalidEach(`${at}.name`, name, checkContainerResourceName(name)));
    return [...errors, ...validateUsage(at, containerResource)];
  }
  return [required(at, "must populate information for the given metric source")];
}

/** The problems of a metric of the pods' own resources: an amount, or a share of their requests. */
function validateUsage(path: string, { name, target }: { name: string; target: MetricTarget }): FieldError[] {
  const { averageUtilization, averageValue } = target;
  const errors = name === "" ? [required(`${path}.name`, "must specify a resource name")] : [];
  errors.push(...validateTarget(`${path}.target`, target));
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = "must set either a target raw value or a target utilization";
    errors.push(required(`${path}.target.averageUtilization`, detail));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const detail = "may not set both a target raw value and a target utilization";
    errors.push(forbidden(`${path}.target.averageValue`, detail));
  }
  return errors;
}

function requireAmount(path: string, { value, averageValue }: MetricTarget, detail: string): FieldError[] {
  return value === undefined && averageValue === undefined ? [required(`${path}.averageValue`, detail)] : [];
}

function validateTarget(path: string, target: MetricTarget): FieldError[] {
  const { type, averageUtilization } = target;
  const errors: FieldError[] = [];
  if (type === "") errors.push(required(`${path}.type`, "must specify a metric target type"));
  else if (!["Utilization", "Value", "AverageValue"].includes(type)) {
    errors.push(invalid(`${path}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const field of ["value", "averageValue"] as const) {
    const amount = target[field];
    if (amount !== undefined && compareQuantities(amount, "0") <= 0) {
      errors.push(invalid(`${path}.${field}`, amount, "must be positive"));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(invalid(`${path}.averageUtilization`, averageUtilization, "must be greater than 0"));
  }
  return errors;
}

function validateIdentifier(path: string, { name }: MetricIdentifier): FieldError[] {
  const errors =
    name === ""
      ? [required(`${path}.name`, "must specify a metric name")]
      : invalidEach(`${path}.name`, name, checkPathSegment(name));
  // Upstream validates neither operators nor keys of the selector, which is for the metrics' own API.
  return errors;
}

/** The problems of a reference to the scaled or the measured object. */
export function validateReference(
  path: string,
  { kind, name, apiVersion = "" }: CrossVersionObjectReference,
): FieldError[] {
  const errors = Object.entries({ kind, name }).flatMap(([field, text]) => {
    const at = `${path}.${field}`;
    return text === "" ? [required(at)] : invalidEach(at, text, checkPathSegment(text));
  });
  if (apiVersion.split("/").length <= 2) return errors;
  return [...errors, invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}
