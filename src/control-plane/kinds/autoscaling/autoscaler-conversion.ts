import { decodeTyped } from "../../../api/decode.ts";
import { SERVED_SCHEMA } from "../../../api/gen/served-schema.ts";
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  MetricSpec,
  MetricStatus,
} from "../../../api/gen/types.ts";
import { isRecord, type KubeObject, typed } from "../../../api/object.ts";
import { fromFormerMetric, METRIC_SPECS, METRIC_STATUSES, toFormerMetric } from "./former-metrics.ts";

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const BEHAVIOR = `${PREFIX}behavior`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;

/** The annotations by which `autoscaling/v1` says what it has no fields for: of the spec, and of the status. */
const SPEC_ANNOTATIONS = [METRICS, BEHAVIOR];
const STATUS_ANNOTATIONS = [CURRENT_METRICS, CONDITIONS];
const ANNOTATIONS = new Set([
  ...SPEC_ANNOTATIONS,
  ...STATUS_ANNOTATIONS,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
]);

const DEFAULT_PROCESSOR_SHARE = 80;

/** An autoscaler of `autoscaling/v2`, in which all are stored, as `autoscaling/v1` shows it. */
export function toFormerAutoscaler(object: KubeObject): KubeObject {
  const { spec, status, metadata }: Partial<HorizontalPodAutoscaler> = typed("HorizontalPodAutoscaler", object);
  const { metrics = [], behavior, ...sharedSpec }: Partial<HorizontalPodAutoscaler["spec"]> = spec ?? {};
  const target = metrics.find(isProcessorShare)?.resource?.target.averageUtilization;
  const others = metrics.filter((metric) => !isProcessorShare(metric));
  const written: Record<string, string> = withoutOwn(metadata?.annotations);
  const write = (name: string, value: unknown) => {
    written[name] = JSON.stringify(value);
  };
  const current = status?.currentMetrics ?? [];
  if (others.length > 0)
    write(
      METRICS,
      others.map((metric) => toFormerMetric(METRIC_SPECS, metric)),
    );
  if (current.length > 0)
    write(
      CURRENT_METRICS,
      current.map((metric) => toFormerMetric(METRIC_STATUSES, metric)),
    );
  if (behavior) write(BEHAVIOR, renameKeys(behavior, goName));
  if (status?.conditions && status.conditions.length > 0) write(CONDITIONS, status.conditions);
  return {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: withAnnotations(object.metadata, written),
    spec: { ...sharedSpec, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
    ...(status && { status: toFormerStatus(status) }),
  };
}

function toFormerStatus(status: NonNullable<HorizontalPodAutoscaler["status"]>): Record<string, unknown> {
  const { currentMetrics, conditions: _annotated, currentReplicas = 0, ...shared } = status;
  const used = (currentMetrics ?? []).filter(({ type, resource }) => type === "Resource" && resource?.name === "cpu");
  const utilization = used
    .map(({ resource }) => resource?.current.averageUtilization)
    .findLast((share) => share !== undefined);
  return {
    ...shared,
    currentReplicas,
    ...(utilization !== undefined && { currentCPUUtilizationPercentage: utilization }),
  };
}

/** True for the one metric that `autoscaling/v1` has a field for. */
function isProcessorShare({ type, resource }: MetricSpec): boolean {
  return type === "Resource" && resource?.name === "cpu" && resource.target.averageUtilization !== undefined;
}

/** The way back. An annotation that cannot be read says nothing. */
export function fromFormerAutoscaler(object: KubeObject): KubeObject {
  const { spec, status }: Partial<HorizontalPodAutoscalerV1> = formerTyped(object);
  // What nobody owns is taken away in between, when autoscalers are applied: the whole spec, where it is of one manager.
  const { targetCPUUtilizationPercentage: share, ...sharedSpec } = spec ?? {};
  const annotations = object.metadata.annotations ?? {};
  const others = readList(annotations[METRICS], "MetricSpec", (item) => fromFormerMetric(METRIC_SPECS, item)) ?? [];
  const metrics = [...others, ...(share === undefined ? [] : [processorShare(share)])];
  const behavior = readBehavior(annotations[BEHAVIOR]);
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: withAnnotations(object.metadata, withoutOwn(annotations)),
    spec: {
      ...sharedSpec,
      metrics: metrics.length > 0 ? metrics : [processorShare(DEFAULT_PROCESSOR_SHARE)],
      ...(behavior !== undefined && { behavior }),
    },
    ...(status && { status: fromFormerStatus(status, annotations) }),
  };
}

function fromFormerStatus(
  status: NonNullable<HorizontalPodAutoscalerV1["status"]>,
  annotations: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const { currentCPUUtilizationPercentage: share, currentReplicas, ...shared } = status;
  const told = readList(annotations[CURRENT_METRICS], "MetricStatus", (item) => {
    return fromFormerMetric(METRIC_STATUSES, item);
  });
  const metrics = told ?? (share === undefined ? [] : [usedShare(share)]);
  const conditions = readList(annotations[CONDITIONS], "HorizontalPodAutoscalerCondition", (item) => item) ?? [];
  return {
    ...shared,
    ...(currentReplicas !== 0 && { currentReplicas }),
    currentMetrics: metrics.length > 0 ? metrics : null,
    ...(conditions.length > 0 && { conditions }),
  };
}

function processorShare(averageUtilization: number): MetricSpec {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function usedShare(averageUtilization: number): MetricStatus {
  return { type: "Resource", resource: { name: "cpu", current: { averageUtilization } } };
}

/** The former form of `next` with what its annotations say of the status taken from `current`: a spec is written. */
export function keepFormerStatus(next: KubeObject, current: KubeObject): KubeObject {
  return takeAnnotations(next, current, STATUS_ANNOTATIONS);
}

/** The former form of `current` with the status and the metadata of `next`, but the spec that `current` has. */
export function takeFormerStatus(next: KubeObject, current: KubeObject): KubeObject {
  const { status, metadata } = takeAnnotations(next, current, SPEC_ANNOTATIONS);
  const { status: _replaced, ...kept } = current;
  return { ...kept, apiVersion: kept.apiVersion, kind: kept.kind, metadata, ...(status !== undefined && { status }) };
}

/** The object as it is created: it has no status, whatever its author says. */
export function withoutFormerStatus(object: KubeObject): KubeObject {
  const { metadata } = takeAnnotations(object, { ...object, metadata: {} }, STATUS_ANNOTATIONS);
  return { ...object, metadata, status: { currentReplicas: 0, desiredReplicas: 0 } };
}

function takeAnnotations(next: KubeObject, from: KubeObject, names: readonly string[]): KubeObject {
  const { annotations = {} } = next.metadata;
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name));
  const taken = Object.entries(from.metadata.annotations ?? {}).filter(([name]) => names.includes(name));
  return { ...next, metadata: withAnnotations(next.metadata, Object.fromEntries([...kept, ...taken])) };
}

function withoutOwn(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !ANNOTATIONS.has(name)));
}

function withAnnotations(
  metadata: KubeObject["metadata"],
  annotations: Record<string, string>,
): KubeObject["metadata"] {
  const { annotations: _replaced, ...rest } = metadata;
  return Object.keys(annotations).length > 0 ? { ...rest, annotations } : rest;
}

function readJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readList(text: string | undefined, type: string, read: (item: unknown) => unknown): unknown[] | undefined {
  const items = readJson(text);
  if (!Array.isArray(items)) return undefined;
  const decoded = items.map((item) => decodeTyped({ tables: SERVED_SCHEMA, type }, read(item)).value);
  return decoded.some((item) => item === undefined) ? undefined : decoded;
}

/** Upstream writes this one with the names of its fields in Go. */
function readBehavior(text: string | undefined): unknown {
  const behavior = renameKeys(readJson(text), jsonName);
  if (!isRecord(behavior) || Object.keys(behavior).length === 0) return undefined;
  return decodeTyped({ tables: SERVED_SCHEMA, type: "HorizontalPodAutoscalerBehavior" }, behavior).value;
}

const goName = (name: string) => name.replace(/^./, (first) => first.toUpperCase());
const jsonName = (name: string) => name.replace(/^./, (first) => first.toLowerCase());

/** How deep a behavior nests: its rules, their policies, and the fields of these. */
const BEHAVIOR_DEPTH = 4;

function renameKeys(value: unknown, rename: (name: string) => string, depth = BEHAVIOR_DEPTH): unknown {
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename, depth - 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [rename(name), renameKeys(part, rename, depth - 1)]),
  );
}

function formerTyped(object: KubeObject): KubeObject & HorizontalPodAutoscalerV1 {
  if (isFormer(object)) return object;
  throw new TypeError(`expected an autoscaler of autoscaling/v1, got ${object.apiVersion} ${object.kind}`);
}

function isFormer(object: KubeObject): object is KubeObject & HorizontalPodAutoscalerV1 {
  return object.kind === "HorizontalPodAutoscaler" && object.apiVersion === "autoscaling/v1";
}
