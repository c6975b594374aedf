import type { Container, Pod, PodTemplateSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { podFromTemplate } from "../pod-control/pod-from-template.ts";
import {
  INDEX_ANNOTATION,
  INDEX_FAILURES_ANNOTATION,
  INDEX_IGNORED_FAILURES_ANNOTATION,
  indexFailuresOf,
  isIndexed,
  TRACKING_FINALIZER,
} from "./job-pods.ts";
import { judgeFailure } from "./job-policies.ts";

const INDEX_VARIABLE = "JOB_COMPLETION_INDEX";
/** What a generated name begins with is at most this long; five characters follow. */
const MAX_GENERATE_NAME = 58;

interface IndexedPod {
  readonly index: number;
  /** The failed pod that this one replaces, where failures are counted for each index. */
  readonly predecessor: Pod | undefined;
}

/** A new pod of the job, which stays until it is counted. A pod of an indexed job learns its index in several ways. */
export function podOfJob(owner: KubeObject, indexed: IndexedPod | undefined): KubeObject {
  const { spec } = typed("Job", owner);
  const pod = podFromTemplate(withTracking(spec?.template ?? {}), owner);
  if (indexed === undefined || pod.spec === undefined || !isIndexed(typed("Job", owner))) return pod;
  const { index } = indexed;
  const name = owner.metadata.name ?? "";
  const suffix = `-${index}-`;
  const prefix =
    name.length + suffix.length > MAX_GENERATE_NAME ? name.slice(0, MAX_GENERATE_NAME - suffix.length) : name;
  const { initContainers, containers } = pod.spec;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${prefix}${suffix}`,
      labels: { ...pod.metadata.labels, [INDEX_ANNOTATION]: `${index}` },
      annotations: { ...pod.metadata.annotations, [INDEX_ANNOTATION]: `${index}`, ...failureCounts(owner, indexed) },
    },
    spec: {
      ...pod.spec,
      hostname: `${name}-${index}`,
      containers: containers.map(withIndexVariable),
      ...(initContainers && { initContainers: initContainers.map(withIndexVariable) }),
    },
  };
}

function withTracking({ metadata = {}, spec }: PodTemplateSpec): PodTemplateSpec {
  const others = (metadata.finalizers ?? []).filter((name) => name !== TRACKING_FINALIZER);
  return { metadata: { ...metadata, finalizers: [...others, TRACKING_FINALIZER] }, ...(spec && { spec }) };
}

function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const fieldRef = { fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` };
  return { ...container, env: [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef } }] };
}

/** The number of failures of the index so far, by which the next failure is judged. */
function failureCounts(owner: KubeObject, { predecessor }: IndexedPod): Record<string, string> {
  const { spec } = typed("Job", owner);
  if (spec?.backoffLimitPerIndex === undefined) return {};
  if (predecessor === undefined) return { [INDEX_FAILURES_ANNOTATION]: "0" };
  const { counted, ignored } = indexFailuresOf(predecessor);
  const { isCounted } = judgeFailure(spec.podFailurePolicy, predecessor);
  const ignoredNow = ignored + (isCounted ? 0 : 1);
  return {
    [INDEX_FAILURES_ANNOTATION]: `${counted + (isCounted ? 1 : 0)}`,
    ...(ignoredNow > 0 && { [INDEX_IGNORED_FAILURES_ANNOTATION]: `${ignoredNow}` }),
  };
}
