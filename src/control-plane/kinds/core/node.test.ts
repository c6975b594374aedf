import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { NodeSpec, NodeStatus } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import { nodeKind } from "./node.ts";

const node = (spec: NodeSpec = {}, status: NodeStatus = {}) =>
  untyped({ apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec, status });
const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);

describe("a node", () => {
  it("can be used up to its capacity unless it says less", () => {
    const { default: setDefaults } = nodeKind.strategy;
    const plain = typed("Node", setDefaults?.(node({}, { capacity: { cpu: "4" } })) ?? node());
    expect(plain.status?.allocatable).toEqual({ cpu: "4" });
    const kept = typed(
      "Node",
      setDefaults?.(node({}, { capacity: { cpu: "4" }, allocatable: { cpu: "3" } })) ?? node(),
    );
    expect(kept.status?.allocatable).toEqual({ cpu: "3" });
  });

  it("has its first pod range in the old field too, and the other way round", () => {
    expect(nodeKind.strategy.default?.(node({ podCIDRs: ["10.1.0.0/24"] }))["spec"]).toMatchObject({
      podCIDR: "10.1.0.0/24",
    });
    expect(nodeKind.strategy.default?.(node({ podCIDR: "10.1.0.0/24" }))["spec"]).toMatchObject({
      podCIDRs: ["10.1.0.0/24"],
    });
  });

  it.each<[string, NodeSpec, NodeStatus, string[]]>([
    [
      "is fine with taints",
      {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoExecute" },
        ],
      },
      {},
      [],
    ],
    [
      "has no taint twice",
      {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoSchedule", value: "x" },
        ],
      },
      {},
      [
        'metadata.taints[1]: Duplicate value: {"key":"a","effect":"NoSchedule","value":"x"}: taints must be unique by key and effect pair',
      ],
    ],
    [
      "has taints of known effects",
      { taints: [{ key: "a", effect: "Never" }] },
      {},
      [
        'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    ["declares features, sorted", {}, { declaredFeatures: ["A", "A/b", "B2/c/D"] }, []],
    [
      "declares no feature twice",
      {},
      { declaredFeatures: ["A", "A"] },
      ['status.declaredFeatures[1]: Duplicate value: "A"'],
    ],
    [
      "declares features in no other order",
      {},
      { declaredFeatures: ["B", "A"] },
      ['status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically'],
    ],
    ...["a", "", "A-b", "A/", "A/1", "Ä"].map((name): [string, NodeSpec, NodeStatus, string[]] => [
      `declares no feature that is called ${JSON.stringify(name)}`,
      {},
      { declaredFeatures: [name] },
      [
        `status.declaredFeatures[0]: Invalid value: "${name}": invalid feature name "${name}": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
      ],
    ]),
    [
      "has no negative amounts",
      {},
      { capacity: { cpu: "-1" } },
      ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      "has whole pods",
      {},
      { allocatable: { pods: "500m" } },
      ['status.allocatable.pods: Invalid value: "500m": must be an integer'],
    ],
    [
      "has good pod ranges",
      { podCIDRs: ["10.0.0.0"] },
      {},
      ['spec.podCIDRs[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
    [
      "has one pod range of a family",
      { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] },
      {},
      [
        'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
      ],
    ],
  ])("%s", (_name, spec, status, errors) => {
    expect(show(nodeKind.strategy.validate?.(node(spec, status)))).toEqual(errors);
  });

  it.each<[string, NodeSpec, NodeSpec, NodeStatus, string[]]>([
    ["gets a pod range", {}, { podCIDRs: ["10.0.0.0/24"] }, {}, []],
    [
      "keeps it",
      { podCIDRs: ["10.0.0.0/24"] },
      { podCIDRs: ["10.0.1.0/24"] },
      {},
      ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
    ],
    ["gets an identity", {}, { providerID: "a" }, {}, []],
    [
      "keeps it too",
      { providerID: "a" },
      { providerID: "b" },
      {},
      ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ],
    ["may be cordoned and tainted", {}, { unschedulable: true, taints: [{ key: "a", effect: "NoExecute" }] }, {}, []],
    [
      "has no address twice",
      {},
      {},
      {
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "InternalIP", address: "10.0.0.1" },
        ],
      },
      ['status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"10.0.0.1"}'],
    ],
  ])("%s", (_name, before, after, status, errors) => {
    expect(show(nodeKind.strategy.validateUpdate?.(node(after, status), node(before)))).toEqual(errors);
  });

  it("is selected by whether it takes pods", () => {
    expect(nodeKind.strategy.fields?.["spec.unschedulable"]?.(node())).toBe("false");
    expect(nodeKind.strategy.fields?.["spec.unschedulable"]?.(node({ unschedulable: true }))).toBe("true");
  });
});
