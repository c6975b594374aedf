import { isApiError } from "../../../api/api-error.ts";
import type { HorizontalPodAutoscalerSpec, Pod } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import { isEqualJson } from "../../../api/patch/json-value.ts";
import { type LabelSelector, parseLabelSelector } from "../../../api/selectors/label-selector.ts";
import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder, type EventRecorder } from "../../control-loop/record-events.ts";
import { createWorkQueue, type WorkQueue } from "../../control-loop/work-queue.ts";
import type { ComputedObjects } from "../../ports/computed-objects.ts";
import type { ReadForeign } from "../../ports/foreign-reads.ts";
import { withVerdict } from "./autoscaler-conditions.ts";
import {
  type AutoscalerMetrics,
  createAutoscalerMetrics,
  type LookResult,
  type ReportedAutoscaler,
} from "./autoscaler-metrics.ts";
import type { AutoscalerSettings } from "./autoscaler-settings.ts";
import { type ForeignReading, readForeignMetric } from "./foreign-metrics.ts";
import {
  type AutoscalerInput,
  type AutoscalerNews,
  type AutoscalerPlan,
  type AutoscalerStatus,
  afterFailedRescale,
  afterRescale,
  missingSelector,
  needsMetrics,
  planAutoscaler,
  type SelectedPods,
} from "./plan-autoscaler.ts";
import type { FoundScale, ScaleTargets, TargetScale } from "./scale-targets.ts";
import type { ScalingHistory } from "./scaling-history.ts";

const AUTOSCALERS = "horizontalpodautoscalers.autoscaling";
const COMPONENT = "horizontal-pod-autoscaler";
const WORKERS = 5;

interface AutoscalerDeps extends ControllerDeps {
  targets: ScaleTargets;
  /** The resource `pods` of `metrics.k8s.io`. */
  podMetrics: ComputedObjects;
  readForeign: ReadForeign;
  /** Undefined for a kind that is not served. */
  pluralOf(group: string, kind: string): string | undefined;
}

type StoredAutoscaler = ObjectOf<"HorizontalPodAutoscaler">;

/** What is known of an autoscaler beside its object, as long as that is there. */
interface Remembered {
  history?: ScalingHistory;
  /** The labels of its target's pods when they were asked for last. */
  selector?: LabelSelector;
  desiredReplicas?: number;
}

interface Autoscaling extends AutoscalerDeps {
  events: EventRecorder;
  settings: AutoscalerSettings;
  counted: AutoscalerMetrics;
  /** By the autoscalers' keys. */
  remembered: Map<string, Remembered>;
}

/**
 * Scales what autoscalers name by what its pods use (`pkg/controller/podautoscaler`). Each of them is looked at when its
 * author changed it, and once every sync period.
 */
export function createPodAutoscalers(deps: AutoscalerDeps, settings: AutoscalerSettings): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const remembered: Autoscaling["remembered"] = new Map();
  const counted = createAutoscalerMetrics(deps.clock, () => reportedOf(remembered), deps.metrics);
  const autoscaling: Autoscaling = { ...deps, events, settings, counted, remembered };
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "horizontalpodautoscaler",
    workers: WORKERS,
    reconcile: (key, signal) => reconcile(autoscaling, key, signal),
  });
  const follow = () => [
    deps.feed.follow(AUTOSCALERS, ({ type, object, previous }) => {
      if (type === "MODIFIED" && isEqualJson(object["spec"], previous?.["spec"])) return;
      queue.add(namespacedKeyOf(object.metadata));
    }),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

function reportedOf(remembered: Autoscaling["remembered"]): ReportedAutoscaler[] {
  return [...remembered].map(([key, { desiredReplicas }]) => ({ ...splitNamespacedKey(key), desiredReplicas }));
}

async function reconcile(autoscaling: Autoscaling, key: string, signal: AbortSignal): Promise<number | undefined> {
  const { reader, settings, remembered, counted } = autoscaling;
  const object = reader.get({ resource: AUTOSCALERS, ...splitNamespacedKey(key) });
  if (object === undefined) {
    remembered.delete(key);
    return undefined;
  }
  const end = counted.begin();
  try {
    end(await lookAt(autoscaling, typed("HorizontalPodAutoscaler", object), { key, signal }));
  } catch (error) {
    if (isAbort(error)) return undefined;
    end({ action: "none", error: "internal" });
    throw error;
  }
  return settings.syncPeriodMs;
}

/** Rejects with `AbortedError` and ApiErrors. */
async function lookAt(
  autoscaling: Autoscaling,
  autoscaler: StoredAutoscaler,
  { key, signal }: { key: string; signal: AbortSignal },
): Promise<LookResult> {
  const { clock, targets, settings, remembered } = autoscaling;
  const { spec, metadata } = autoscaler;
  const known = remembered.get(key) ?? {};
  remembered.set(key, known);
  const found = await targets.find(spec.scaleTargetRef, metadata.namespace ?? "");
  if (found.kind === "failed") {
    await reportNoScale(autoscaling, autoscaler, found);
    return { action: "none", error: "internal" };
  }
  const { scale } = found;
  const selected = needsMetrics(spec, scale)
    ? await selectPods(autoscaling, autoscaler, { key, known, scale, signal })
    : undefined;
  const times = { now: clock.now(), elapsed: clock.monotonic() };
  const input = { autoscaler, scale, selected, history: known.history, settings, ...times };
  const plan = planAutoscaler(input);
  for (const news of plan.news) tell(autoscaling, autoscaler, news);
  const outcome = plan.rescale === undefined ? undefined : await rescale(autoscaling, input, plan, plan.rescale);
  if (outcome !== undefined) tell(autoscaling, autoscaler, outcome.news);
  const { status, history } = outcome ?? plan;
  // What was done is remembered whether or not it can be told.
  known.history = history;
  known.desiredReplicas = status.desiredReplicas;
  await writeStatus(autoscaling, autoscaler, status);
  const hasFailed = [...plan.news, ...(outcome ? [outcome.news] : [])].some(({ type }) => type === "Warning");
  return { action: actionOf(scale, outcome), error: hasFailed ? "internal" : "none" };
}

function actionOf(
  { replicas }: TargetScale,
  outcome: ReturnType<typeof afterRescale> | undefined,
): LookResult["action"] {
  if (outcome?.news.type !== "Normal") return "none";
  return outcome.status.desiredReplicas > replicas ? "scale_up" : "scale_down";
}

async function reportNoScale(
  autoscaling: Autoscaling,
  autoscaler: StoredAutoscaler,
  { message: reason }: Extract<FoundScale, { kind: "failed" }>,
): Promise<void> {
  tell(autoscaling, autoscaler, { type: "Warning", reason: "FailedGetScale", message: reason });
  const message = `the HPA controller was unable to get the target's current scale: ${reason}`;
  const verdict = { status: "False", reason: "FailedGetScale", message } as const;
  const { conditions = [], ...status } = autoscaler.status ?? { desiredReplicas: 0 };
  await writeStatus(autoscaling, autoscaler, {
    currentMetrics: null,
    ...status,
    conditions: withVerdict(conditions, "AbleToScale", verdict, autoscaling.clock.now()),
  });
}

interface Selection {
  readonly key: string;
  readonly known: Remembered;
  readonly scale: TargetScale;
  readonly signal: AbortSignal;
}

/** Finds the pods of the target, and reads what they use, and what servers of others say of the metrics. Rejects with `AbortedError` only. */
async function selectPods(
  autoscaling: Autoscaling,
  { spec, metadata }: StoredAutoscaler,
  { key, known, scale, signal }: Selection,
): Promise<SelectedPods> {
  if (scale.selector === "") return missingSelector();
  const selector = readSelector(scale.selector);
  if (typeof selector === "string") return refuse("InvalidSelector", selector);
  known.selector = selector;
  const { namespace = "" } = metadata;
  const isSelected = ({ metadata: { labels } }: KubeObject) => selector.matches(labels);
  const objects = autoscaling.reader.list("pods", namespace).filter(isSelected);
  const sharing = findSharing(autoscaling, key, objects);
  if (sharing.length > 1) {
    const list = sharing.join(" ");
    return refuse("AmbiguousSelector", `pods by selector ${scale.selector} are controlled by multiple HPAs: [${list}]`);
  }
  const podMetrics = isAboutUsage(spec)
    ? await autoscaling.podMetrics.read({ namespace, name: undefined }, signal)
    : [];
  const pods: readonly Pod[] = objects.map((object) => typed("Pod", object));
  const asking = { ...autoscaling, namespace, selector: scale.selector };
  const foreign: ForeignReading[] = [];
  // One after the other, because each answer may be long.
  for (const metric of spec.metrics ?? []) foreign.push(await readForeignMetric(asking, metric, signal));
  return { kind: "selected", pods, podMetrics: podMetrics.filter(isSelected), foreign };
}

function refuse(reason: string, message: string): SelectedPods {
  return { kind: "failed", news: { type: "Warning", reason, message }, verdict: { status: "False", reason, message } };
}

/** Returns the selector, or what is wrong with it. */
function readSelector(text: string): LabelSelector | string {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return `couldn't convert selector into a corresponding internal selector object: ${error.message}`;
  }
}

/** The keys of this autoscaler and of all others that count some of the same pods. */
function findSharing({ remembered }: Autoscaling, key: string, pods: readonly KubeObject[]): string[] {
  const { namespace } = splitNamespacedKey(key);
  const others = [...remembered].filter(([other, { selector }]) => {
    if (other === key || selector === undefined || splitNamespacedKey(other).namespace !== namespace) return false;
    return pods.some(({ metadata }) => selector.matches(metadata.labels));
  });
  return [key, ...others.map(([other]) => other)].sort();
}

const isAboutUsage = ({ metrics = [] }: HorizontalPodAutoscalerSpec) =>
  metrics.some(({ type }) => type === "Resource" || type === "ContainerResource");

async function rescale(
  { targets }: Autoscaling,
  input: AutoscalerInput,
  plan: AutoscalerPlan,
  wanted: NonNullable<AutoscalerPlan["rescale"]>,
): Promise<ReturnType<typeof afterRescale>> {
  const { spec, metadata } = input.autoscaler;
  try {
    await targets.setReplicas(spec.scaleTargetRef, metadata.namespace ?? "", wanted.replicas);
    return afterRescale(input, plan, wanted);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return afterFailedRescale(input, plan, { ...wanted, error: messageOf(error) });
  }
}

/**
 * Writes over what others wrote meanwhile: the status is the controller's alone, and must tell of a rescaling that has
 * happened.
 */
async function writeStatus(
  autoscaling: Autoscaling,
  autoscaler: StoredAutoscaler,
  status: AutoscalerStatus | NonNullable<StoredAutoscaler["status"]>,
): Promise<void> {
  if (isEqualJson(status, autoscaler.status)) return;
  const { resourceVersion: _any, ...metadata } = autoscaler.metadata;
  try {
    await unlessOvertaken(autoscaling.writer.update(AUTOSCALERS, { ...autoscaler, metadata, status }, "status"));
  } catch (error) {
    const message = messageOf(error);
    if (isApiError(error)) tell(autoscaling, autoscaler, { type: "Warning", reason: "FailedUpdateStatus", message });
    throw error;
  }
}

function tell({ events }: Autoscaling, about: StoredAutoscaler, news: AutoscalerNews): void {
  events.record({ about, ...news });
}
