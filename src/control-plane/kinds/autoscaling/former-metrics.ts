import { isRecord } from "../../../api/object.ts";

/** A part of an autoscaler as an annotation has it: nobody has checked what is in it. */
type Loose = Readonly<Record<string, unknown>>;

const ABSENT: Loose = {};
const partOf = (value: unknown): Loose => (isRecord(value) ? value : ABSENT);

/** The object without its fields of value undefined. */
function defined(fields: Loose): Loose {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** How one type of metric is written in `autoscaling/v1` (the former way) and in `autoscaling/v2`. */
interface MetricForm {
  /** The field of the metric that holds it. */
  readonly field: string;
  toFormer(source: Loose): Loose;
  fromFormer(source: Loose): Loose;
}

const ZERO = "0";
const isZero = (amount: unknown) => amount === undefined || amount === ZERO;

function usageTarget(averageUtilization: unknown, averageValue: unknown): Loose {
  const type = averageUtilization === undefined ? "AverageValue" : "Utilization";
  return defined({ type, averageUtilization, averageValue });
}

const usageSpec: Omit<MetricForm, "field"> = {
  toFormer({ name, container, target }) {
    const { averageUtilization, averageValue } = partOf(target);
    return { name, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue, container };
  },
  fromFormer({ name, container, targetAverageUtilization, targetAverageValue }) {
    return { name, container, target: usageTarget(targetAverageUtilization, targetAverageValue) };
  },
};

/** The metrics that an autoscaler follows. */
export const METRIC_SPECS: readonly MetricForm[] = [
  { field: "resource", ...usageSpec },
  { field: "containerResource", ...usageSpec },
  {
    field: "pods",
    toFormer({ metric, target }) {
      const { name, selector } = partOf(metric);
      return { metricName: name, targetAverageValue: partOf(target)["averageValue"] ?? ZERO, selector };
    },
    fromFormer({ metricName, targetAverageValue, selector }) {
      const target = { type: "AverageValue", averageValue: targetAverageValue };
      return { metric: { name: metricName, selector }, target };
    },
  },
  {
    field: "object",
    toFormer({ describedObject, metric, target }) {
      const { name, selector } = partOf(metric);
      const { value, averageValue } = partOf(target);
      return { target: describedObject, metricName: name, targetValue: value ?? ZERO, selector, averageValue };
    },
    fromFormer({ target: describedObject, metricName, targetValue, selector, averageValue }) {
      const isAverage = averageValue !== undefined;
      // The former way has a value always; beside an average, zero says that there is none.
      const value = isAverage && isZero(targetValue) ? undefined : targetValue;
      const target = defined({ type: isAverage ? "AverageValue" : "Value", value, averageValue });
      return { describedObject, metric: { name: metricName, selector }, target };
    },
  },
  {
    field: "external",
    toFormer({ metric, target }) {
      const { name, selector } = partOf(metric);
      const { value, averageValue } = partOf(target);
      return { metricName: name, metricSelector: selector, targetValue: value, targetAverageValue: averageValue };
    },
    fromFormer({ metricName, metricSelector, targetValue, targetAverageValue }) {
      const type = targetValue === undefined ? "AverageValue" : "Value";
      const target = defined({ type, value: targetValue, averageValue: targetAverageValue });
      return { metric: { name: metricName, selector: metricSelector }, target };
    },
  },
];

const usageStatus: Omit<MetricForm, "field"> = {
  toFormer({ name, container, current }) {
    const { averageUtilization, averageValue = ZERO } = partOf(current);
    return { name, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue, container };
  },
  fromFormer({ name, container, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue }) {
    return { name, container, current: { averageUtilization, averageValue } };
  },
};

/** What an autoscaler saw of them. */
export const METRIC_STATUSES: readonly MetricForm[] = [
  { field: "resource", ...usageStatus },
  { field: "containerResource", ...usageStatus },
  {
    field: "pods",
    toFormer({ metric, current }) {
      const { name, selector } = partOf(metric);
      return { metricName: name, currentAverageValue: partOf(current)["averageValue"] ?? ZERO, selector };
    },
    fromFormer({ metricName, currentAverageValue: averageValue, selector }) {
      return { metric: { name: metricName, selector }, current: { averageValue } };
    },
  },
  {
    field: "object",
    toFormer({ describedObject, metric, current }) {
      const { name, selector } = partOf(metric);
      const { value = ZERO, averageValue } = partOf(current);
      return { target: describedObject, metricName: name, currentValue: value, selector, averageValue };
    },
    fromFormer({ target, metricName, currentValue: value, selector, averageValue }) {
      return { describedObject: target, metric: { name: metricName, selector }, current: { value, averageValue } };
    },
  },
  {
    field: "external",
    toFormer({ metric, current }) {
      const { name, selector } = partOf(metric);
      const { value = ZERO, averageValue } = partOf(current);
      return { metricName: name, metricSelector: selector, currentValue: value, currentAverageValue: averageValue };
    },
    fromFormer({ metricName, metricSelector, currentValue: value, currentAverageValue: averageValue }) {
      return { metric: { name: metricName, selector: metricSelector }, current: { value, averageValue } };
    },
  },
];

/** The metric as `autoscaling/v1` writes it into an annotation. */
export function toFormerMetric(forms: readonly MetricForm[], metric: object): Loose {
  return convert(forms, "toFormer", metric);
}

/** The metric of an annotation as `autoscaling/v2` has it, still unchecked. */
export function fromFormerMetric(forms: readonly MetricForm[], metric: unknown): unknown {
  return isRecord(metric) ? convert(forms, "fromFormer", metric) : metric;
}

function convert(forms: readonly MetricForm[], way: "toFormer" | "fromFormer", metric: object): Loose {
  const { type, ...sources }: Loose = { ...metric };
  const converted = forms.flatMap((form) => {
    const source = sources[form.field];
    return isRecord(source) ? [[form.field, defined(form[way](source))] as const] : [];
  });
  return { type, ...Object.fromEntries(converted) };
}
