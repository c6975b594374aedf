import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { Endpoints, LimitRangeItem, PodTemplateSpec, ReplicationControllerSpec } from "../../../api/gen/types.ts";
import { type KubeObject, untyped } from "../../../api/object.ts";
import { bindingKind } from "./binding.ts";
import { endpointsKind } from "./endpoints.ts";
import { limitRangeKind } from "./limit-range.ts";
import { podTemplateKind } from "./pod/pod-template.ts";
import { replicationControllerKind } from "./replication-controller.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

describe("a binding", () => {
  it.each([
    [{ name: "n" }, []],
    [{ kind: "Node", name: "n" }, []],
    [
      { kind: "Pod", name: "" },
      ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"', "target.name: Required value"],
    ],
  ])("to %j has the errors %j", (target, errors) => {
    const binding: KubeObject = { apiVersion: "v1", kind: "Binding", metadata: { name: "a" }, target };
    expect(show(bindingKind.strategy.validate?.(binding))).toEqual(errors);
  });
});

describe("endpoints", () => {
  const endpoints = (subsets: Endpoints["subsets"]): KubeObject => {
    return { apiVersion: "v1", kind: "Endpoints", metadata: { name: "e" }, subsets };
  };

  it("are of TCP by default", () => {
    expect(endpointsKind.strategy.default?.(endpoints([{ ports: [{ port: 1 }] }]))["subsets"]).toEqual([
      { ports: [{ port: 1, protocol: "TCP" }] },
    ]);
  });

  it.each<[string, Endpoints["subsets"], string[]]>([
    ["are none or some", [], []],
    ["have addresses", [{}], ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
    [
      "have addresses elsewhere",
      [{ addresses: [{ ip: "169.254.0.1" }] }],
      [
        'subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      ],
    ],
    [
      "have named ports when there are several",
      [
        {
          addresses: [{ ip: "10.0.0.1" }],
          ports: [
            { port: 1, protocol: "TCP" },
            { name: "b", port: 2, protocol: "TCP" },
          ],
        },
      ],
      ["subsets[0].ports[0].name: Required value"],
    ],
  ])("%s", (_name, subsets, errors) => {
    expect(show(endpointsKind.strategy.validate?.(endpoints(subsets)))).toEqual(errors);
  });
});

describe("a limit range", () => {
  const range = (...limits: LimitRangeItem[]) =>
    untyped({ apiVersion: "v1", kind: "LimitRange", metadata: { name: "l" }, spec: { limits } });

  it("of containers makes defaults of its bounds", () => {
    const defaulted = limitRangeKind.strategy.default?.(
      range({ type: "Container", max: { cpu: "2" }, min: { cpu: "1", memory: "1Mi" } }),
    );
    expect(defaulted?.["spec"]).toMatchObject({
      limits: [{ default: { cpu: "2" }, defaultRequest: { cpu: "2", memory: "1Mi" } }],
    });
  });

  it("of containers keeps the defaults that it has", () => {
    const item = { type: "Container", max: { cpu: "4" }, default: { cpu: "2" }, defaultRequest: { cpu: "1" } };
    expect(limitRangeKind.strategy.default?.(range(item))["spec"]).toEqual({ limits: [item] });
  });

  it.each<[string, LimitRangeItem[], string[]]>([
    [
      "is fine",
      [
        { type: "Container", max: { cpu: "2" } },
        { type: "Pod", max: { cpu: "4" } },
      ],
      [],
    ],
    ["has every type once", [{ type: "Pod" }, { type: "Pod" }], ['spec.limits[1].type: Duplicate value: "Pod"']],
    [
      "has known types",
      [{ type: "Node" }],
      ['spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified'],
    ],
    [
      "of pods has no defaults",
      [{ type: "Pod", default: { cpu: "1" } }],
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      "of claims bounds their size",
      [{ type: "PersistentVolumeClaim" }],
      [
        "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
      ],
    ],
    [
      "has a least below its most",
      [{ type: "Pod", min: { cpu: "2" }, max: { cpu: "1" } }],
      ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
    ],
    [
      "has defaults within its bounds",
      [{ type: "Container", max: { cpu: "1" }, default: { cpu: "2" }, defaultRequest: { cpu: "3" } }],
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than max value 1',
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than default limit value 2',
        'spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1',
      ],
    ],
    [
      "has a ratio that can be",
      [{ type: "Container", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "3" } }],
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000'],
    ],
    [
      "has a ratio of one at least",
      [{ type: "Container", maxLimitRequestRatio: { cpu: "500m" } }],
      ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'],
    ],
    [
      "bounds what containers have",
      [{ type: "Container", max: { pods: "1" } }],
      ['spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers'],
    ],
  ])("%s", (_name, limits, errors) => {
    expect(show(limitRangeKind.strategy.validate?.(range(...limits)))).toEqual(errors);
  });
});

const TEMPLATE: PodTemplateSpec = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "main", image: "busybox:1" }] },
};

describe("a replication controller", () => {
  const controller = (spec: ReplicationControllerSpec) => {
    const made: KubeObject = { apiVersion: "v1", kind: "ReplicationController", metadata: { name: "r" }, spec };
    return replicationControllerKind.strategy.default?.(made) ?? made;
  };

  it("selects, and is labelled, as its template is", () => {
    expect(controller({ template: TEMPLATE })).toMatchObject({
      metadata: { labels: { app: "x" } },
      spec: { replicas: 1, selector: { app: "x" }, template: { spec: { restartPolicy: "Always" } } },
    });
  });

  it.each<[string, ReplicationControllerSpec, string[]]>([
    ["is fine", { template: TEMPLATE }, []],
    ["has a template", { selector: { a: "b" } }, ["spec.template: Required value"]],
    ["selects something", { template: { ...TEMPLATE, metadata: {} } }, ["spec.selector: Required value"]],
    [
      "selects its template's pods",
      { selector: { app: "y" }, template: TEMPLATE },
      ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    ],
    [
      "restarts its pods",
      {
        template: { ...TEMPLATE, spec: { containers: [{ name: "main", image: "busybox:1" }], restartPolicy: "Never" } },
      },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      "may use the host's ports",
      {
        template: {
          ...TEMPLATE,
          spec: {
            hostNetwork: true,
            containers: [{ name: "main", image: "busybox:1", ports: [{ containerPort: 80 }] }],
          },
        },
      },
      [],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(replicationControllerKind.strategy.validate?.(controller(spec)))).toEqual(errors);
  });

  it("counts no more ready pods than pods", () => {
    const validate = replicationControllerKind.subresources.find(({ name }) => name === "status")?.validateUpdate;
    const object: KubeObject = { ...controller({}), status: { replicas: 1, readyReplicas: 2, availableReplicas: -1 } };
    expect(show(validate?.(object, object))).toEqual([
      "status.availableReplicas: Invalid value: -1: must be greater than or equal to 0",
      "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
    ]);
  });
});

describe("a pod template", () => {
  it("is defaulted and judged as the pods that it makes", () => {
    const template: KubeObject = {
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "t" },
      template: { spec: { containers: [{ name: "main" }] } },
    };
    const defaulted = podTemplateKind.strategy.default?.(template) ?? template;
    expect(defaulted["template"]).toMatchObject({ spec: { dnsPolicy: "ClusterFirst" } });
    expect(show(podTemplateKind.strategy.validate?.(defaulted))).toEqual([
      "template.spec.containers[0].image: Required value",
    ]);
    expect(template["template"]).toEqual({ spec: { containers: [{ name: "main" }] } });
  });
});
