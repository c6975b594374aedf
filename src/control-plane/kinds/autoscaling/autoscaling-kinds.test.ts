import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { HorizontalPodAutoscalerSpec, MetricSpec } from "../../../api/gen/types.ts";
import { AUTOSCALING_KINDS } from "./autoscaling-kinds.ts";

const [AUTOSCALERS] = AUTOSCALING_KINDS;
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

const autoscaler = (spec: Partial<HorizontalPodAutoscalerSpec> = {}) => ({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web" },
  spec: { scaleTargetRef, maxReplicas: 5, ...spec },
});
const defaulted = (spec: Partial<HorizontalPodAutoscalerSpec>) => {
  return AUTOSCALERS?.strategy.default?.(autoscaler(spec)) ?? autoscaler(spec);
};
const refusals = (spec: Partial<HorizontalPodAutoscalerSpec>) => {
  return (AUTOSCALERS?.strategy.validate?.(defaulted(spec)) ?? []).map(formatFieldError);
};

describe("a horizontal pod autoscaler", () => {
  it("is served as upstream serves it, in version 2", () => {
    expect(AUTOSCALERS).toMatchObject({
      version: "v2",
      plural: "horizontalpodautoscalers",
      shortNames: ["hpa"],
      categories: ["all"],
      subresources: [{ name: "status" }],
    });
  });

  it("follows the processor's use when its author names no metric", () => {
    expect(defaulted({})["spec"]).toEqual({
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
      ],
    });
  });

  it("gets the rules that a behavior leaves out, and none without a behavior", () => {
    const policies = [{ type: "Pods", value: 1, periodSeconds: 60 }];
    const { spec } = defaulted({ behavior: { scaleDown: { policies, stabilizationWindowSeconds: 5 } } });
    expect(spec).toMatchObject({
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: "Max",
          policies: [
            { type: "Pods", value: 4, periodSeconds: 15 },
            { type: "Percent", value: 100, periodSeconds: 15 },
          ],
        },
        scaleDown: { stabilizationWindowSeconds: 5, selectPolicy: "Max", policies },
      },
    });
    // Without a value, the wait before scaling down is the controller's setting.
    expect(defaulted({ behavior: {} })["spec"]).not.toHaveProperty("behavior.scaleDown.stabilizationWindowSeconds");
    expect(defaulted({})["spec"]).not.toHaveProperty("behavior");
  });

  it.each<[string, Partial<HorizontalPodAutoscalerSpec>, string[]]>([
    ["is fine", { minReplicas: 2 }, []],
    [
      "keeps at least one pod",
      { minReplicas: 0 },
      ["spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"],
    ],
    [
      "has room between its bounds",
      { minReplicas: 6 },
      ["spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"],
    ],
    [
      "says what it scales",
      { scaleTargetRef: { apiVersion: "apps/v1", kind: "", name: "a/b" } },
      [
        "spec.scaleTargetRef.kind: Required value",
        "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'",
      ],
    ],
    [
      "names a group for all but what was there before groups",
      { scaleTargetRef: { apiVersion: "v1", kind: "Deployment", name: "a" } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
    ],
    [
      "scales a replication controller",
      { scaleTargetRef: { apiVersion: "v1", kind: "ReplicationController", name: "a" } },
      [],
    ],
    [
      "tolerates no less than nothing",
      { behavior: { scaleUp: { tolerance: "-1m", policies: [{ type: "Pods", value: 1, periodSeconds: 1 }] } } },
      ['spec.behavior.scaleUp.tolerance: Invalid value: "-1m": must be greater than or equal to 0'],
    ],
    [
      "looks back for an hour at most",
      { behavior: { scaleUp: { stabilizationWindowSeconds: 3601 } } },
      ["spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"],
    ],
    [
      "has policies where it has rules",
      { behavior: { scaleDown: { policies: [] } } },
      ["spec.behavior.scaleDown.policies: Required value: must specify at least one Policy"],
    ],
    [
      "has policies that do something, within half an hour",
      { behavior: { scaleDown: { policies: [{ type: "Nodes", value: 0, periodSeconds: 1801 }] } } },
      [
        'spec.behavior.scaleDown.policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"',
        "spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero",
        "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
      ],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(refusals(spec)).toEqual(errors);
  });

  const metric = { name: "requests" };
  const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } };
  it.each<[string, MetricSpec, string[]]>([
    ["of pods", { type: "Pods", pods: { metric, target: { type: "AverageValue", averageValue: "1k" } } }, []],
    [
      "of an object",
      {
        type: "Object",
        object: { metric, describedObject: { kind: "Service", name: "s" }, target: { type: "Value", value: "1" } },
      },
      [],
    ],
    ["of something outside", { type: "External", external: { metric, target: { type: "Value", value: "30" } } }, []],
    [
      "of a container that is not named",
      { type: "ContainerResource", containerResource: { ...cpu, container: "" } },
      ["spec.metrics[0].containerResource.container: Required value: must specify a container"],
    ],
    [
      "of its type",
      { type: "Pods" },
      ["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
    ],
    [
      "of one type",
      { type: "Resource", resource: cpu, pods: { metric, target: { type: "AverageValue", averageValue: "1" } } },
      ["spec.metrics[0].pods: Forbidden: must populate the given metric source only"],
    ],
    [
      "with a target",
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } },
      [
        "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
      ],
    ],
    [
      "with a target above nothing",
      { type: "Pods", pods: { metric, target: { type: "AverageValue", averageValue: "0m" } } },
      ['spec.metrics[0].pods.target.averageValue: Invalid value: "0m": must be positive'],
    ],
  ])("takes a metric %s", (_name, spec, errors) => {
    expect(refusals({ metrics: [spec] })).toEqual(errors);
  });
});
