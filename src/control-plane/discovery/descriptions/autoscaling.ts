import type { TypeDescriptions } from "../type-description.ts";
import { CONDITION_FIELDS } from "./condition-fields.ts";

const REFERENCE = {
  apiVersion: "The group and version of the object's kind, `apps/v1`.",
  kind: "The kind of the object.",
  name: "The name of the object, in the same namespace.",
};
const RESOURCE_NAME = "The name of the resource, cpu or memory.";
const CURRENT = "The value that was last measured.";
const TARGET = "The value that is aimed at.";
const METRIC = "Which metric is measured.";
const MIN_REPLICAS = "The least number of pods; default 1.";
const MAX_REPLICAS = "The greatest number of pods; not less than `minReplicas`.";
const SCALE_TARGET = "The object whose pods are counted, measured and scaled, such as a deployment.";
const OBSERVED_GENERATION = "The generation of the object that this status is about.";
const CURRENT_REPLICAS = "How many pods there are.";
const DESIRED_REPLICAS = "How many pods the autoscaler last found right.";
const LAST_SCALE_TIME = "When the number of pods was last changed.";

const PERCENT_OF_REQUESTS = "The average over the pods, in percent of what they request";
const AUTOSCALER = "Changes the number of pods of another object so that metrics come near their targets.";
const OF_RESOURCE = "The CPU or memory that pods use";
const OF_CONTAINER = "The CPU or memory that one container of each pod uses";
const OF_PODS = "A metric that each pod has, averaged over the pods";
const OF_OBJECT = "A metric of another object of the namespace, such as the requests of an ingress";
const OF_EXTERNAL = "A metric from outside the cluster, such as the length of a queue";

const METRIC_KINDS = {
  containerResource: `${OF_CONTAINER}.`,
  external: `${OF_EXTERNAL}.`,
  object: `${OF_OBJECT}.`,
  pods: `${OF_PODS}.`,
  resource: `${OF_RESOURCE}.`,
  type: "Which of the other fields is set: ContainerResource, External, Object, Pods or Resource.",
};

export const AUTOSCALING_TYPES: TypeDescriptions = {
  ContainerResourceMetricSource: {
    is: `${OF_CONTAINER}, and what it should be.`,
    fields: { container: "The name of the container.", name: RESOURCE_NAME, target: TARGET },
  },
  ContainerResourceMetricStatus: {
    is: `${OF_CONTAINER}, as last measured.`,
    fields: { container: "The name of the container.", current: CURRENT, name: RESOURCE_NAME },
  },
  CrossVersionObjectReferenceV1: { is: "Names an object of the same namespace.", fields: REFERENCE },
  CrossVersionObjectReference: { is: "Names an object of the same namespace.", fields: REFERENCE },
  ExternalMetricSource: {
    is: `${OF_EXTERNAL}, and what it should be.`,
    fields: { metric: METRIC, target: TARGET },
  },
  ExternalMetricStatus: {
    is: `${OF_EXTERNAL}, as last measured.`,
    fields: { current: CURRENT, metric: METRIC },
  },
  HorizontalPodAutoscalerV1: { is: AUTOSCALER, fields: {} },
  HorizontalPodAutoscaler: { is: AUTOSCALER, fields: {} },
  HorizontalPodAutoscalerBehavior: {
    is: "How fast the number of pods may rise and fall.",
    fields: {
      scaleDown: "How fast pods may go; default: all that are too many, once that has held for 300 seconds.",
      scaleUp: "How fast pods may come; default: in 15 seconds 4 more or twice as many, whichever is more.",
    },
  },
  HorizontalPodAutoscalerCondition: {
    is: "One thing that is known about the state of an autoscaler.",
    fields: {
      ...CONDITION_FIELDS,
      type: "AbleToScale, ScalingActive or ScalingLimited.",
    },
  },
  HorizontalPodAutoscalerListV1: { is: "A list of autoscalers.", fields: {} },
  HorizontalPodAutoscalerSpecV1: {
    is: "What is scaled, between which limits, and by how much CPU.",
    fields: {
      maxReplicas: MAX_REPLICAS,
      minReplicas: MIN_REPLICAS,
      scaleTargetRef: SCALE_TARGET,
      targetCPUUtilizationPercentage:
        "The CPU that pods should use on average, in percent of their requests; default 80.",
    },
  },
  HorizontalPodAutoscalerSpec: {
    is: "What is scaled, between which limits, and by which metrics.",
    fields: {
      behavior: "How fast the number of pods may rise and fall.",
      maxReplicas: MAX_REPLICAS,
      metrics: "What is measured; the metric that asks for most pods decides. Default: CPU at 80% of the requests.",
      minReplicas: MIN_REPLICAS,
      scaleTargetRef: SCALE_TARGET,
    },
  },
  HorizontalPodAutoscalerStatusV1: {
    is: "What was last seen of an autoscaler.",
    fields: {
      currentCPUUtilizationPercentage: "The CPU that pods use on average, in percent of their requests.",
      currentReplicas: CURRENT_REPLICAS,
      desiredReplicas: DESIRED_REPLICAS,
      lastScaleTime: LAST_SCALE_TIME,
      observedGeneration: OBSERVED_GENERATION,
    },
  },
  HorizontalPodAutoscalerStatus: {
    is: "What was last seen of an autoscaler.",
    fields: {
      conditions: "Whether the autoscaler can scale, and what limits it.",
      currentMetrics: "The metrics as they were last measured.",
      currentReplicas: CURRENT_REPLICAS,
      desiredReplicas: DESIRED_REPLICAS,
      lastScaleTime: LAST_SCALE_TIME,
      observedGeneration: OBSERVED_GENERATION,
    },
  },
  HPAScalingPolicy: {
    is: "How much the number of pods may change within a time.",
    fields: {
      periodSeconds: "The time within which the change is counted, in seconds, 1 to 1800.",
      type: "What `value` counts: Pods, or Percent of the pods there are.",
      value: "The greatest change within the time; more than 0.",
    },
  },
  HPAScalingRules: {
    is: "How fast the number of pods may change in one direction.",
    fields: {
      policies: "Limits of the change; the defaults are those of scaleUp and scaleDown.",
      selectPolicy:
        "Which of the policies counts: Max (the greatest change, the default), Min (the smallest), or Disabled for " +
        "no change at all.",
      stabilizationWindowSeconds:
        "How far back the most cautious number of pods is looked for, in seconds, 0 to 3600; default 0 for up, 300 " +
        "for down.",
      tolerance: "How far a metric may be off its target before pods change, as a fraction of it; default 0.1.",
    },
  },
  MetricIdentifier: {
    is: "Names a metric.",
    fields: { name: "The name of the metric.", selector: "The labels that the metric must have; default: any." },
  },
  MetricSpec: {
    is: "A metric to scale by; `type` and one more field are set.",
    fields: METRIC_KINDS,
  },
  MetricStatus: {
    is: "A metric as it was last measured; `type` and one more field are set.",
    fields: METRIC_KINDS,
  },
  MetricTarget: {
    is: "The value that a metric should have.",
    fields: {
      averageUtilization: `${PERCENT_OF_REQUESTS}; only for CPU and memory.`,
      averageValue: "The average over the pods.",
      type: "Which of the other fields is set: Utilization, AverageValue or Value.",
      value: "The metric as it is, not divided by the number of pods.",
    },
  },
  MetricValueStatus: {
    is: "The value that a metric had when it was last measured.",
    fields: {
      averageUtilization: `${PERCENT_OF_REQUESTS}.`,
      averageValue: "The average over the pods.",
      value: "The metric as it is, not divided by the number of pods.",
    },
  },
  ObjectMetricSource: {
    is: `${OF_OBJECT}, and what it should be.`,
    fields: { describedObject: "The object that the metric is about.", metric: METRIC, target: TARGET },
  },
  ObjectMetricStatus: {
    is: `${OF_OBJECT}, as last measured.`,
    fields: { current: CURRENT, describedObject: "The object that the metric is about.", metric: METRIC },
  },
  PodsMetricSource: {
    is: `${OF_PODS}, and what it should be.`,
    fields: { metric: METRIC, target: TARGET },
  },
  PodsMetricStatus: {
    is: `${OF_PODS}, as last measured.`,
    fields: { current: CURRENT, metric: METRIC },
  },
  ResourceMetricSource: {
    is: `${OF_RESOURCE}, and what it should be.`,
    fields: { name: RESOURCE_NAME, target: TARGET },
  },
  ResourceMetricStatus: {
    is: `${OF_RESOURCE}, as last measured.`,
    fields: { current: CURRENT, name: RESOURCE_NAME },
  },
  Scale: { is: "How many copies there should be, and how many there are.", fields: {} },
  ScaleSpec: {
    is: "How many copies there should be.",
    fields: { replicas: "How many copies there should be." },
  },
  ScaleStatus: {
    is: "How many copies there are.",
    fields: {
      replicas: "How many copies there are.",
      selector: "The labels of the pods, as a query has them, `app=web,tier!=test`.",
    },
  },
};
