import { expect, it } from "vitest";
import { findTopologyCollision, findTopologyProblem } from "./topology.ts";

it.each<[labels: Record<string, string>, problem: string | undefined]>([
  [{ "topology.ebs.csi.aws.com/zone": "eu-1a", plain: "" }, undefined],
  [{ "topology.kubernetes.io/zone": "z" }, undefined],
  [{ "node.kubernetes.io/mine": "z", "x.kubelet.kubernetes.io/y": "z" }, undefined],
  [{ "kubernetes.io/role": "z" }, 'driver reported the topology label "kubernetes.io/role", which no node may set'],
  [{ "x.k8s.io/role": "z" }, 'driver reported the topology label "x.k8s.io/role", which no node may set'],
  [
    { "node-restriction.kubernetes.io/x": "z" },
    'driver reported the topology label "node-restriction.kubernetes.io/x", which no node may set',
  ],
])("labels %j", (labels, problem) => {
  expect(findTopologyProblem(labels)).toBe(problem);
});

it("labels of a driver that has too many", () => {
  const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
  expect(findTopologyProblem(labels(64))).toBeUndefined();
  expect(findTopologyProblem(labels(65))).toBe("driver reported 65 topology labels, and no more than 64 are taken");
});

it.each([{ zone: "a/b" }, { zone: "x".repeat(64) }, { "a b": "c" }, { "/x": "c" }])(
  "labels %j are no labels",
  (labels) => {
    expect(findTopologyProblem({ ...labels })).toMatch(/^driver reported the invalid topology label /);
  },
);

it.each<[topology: Record<string, string>, existing: Record<string, string>, collision: string | undefined]>([
  [{ k: "v" }, {}, undefined],
  [{ k: "v" }, { k: "v", other: "x" }, undefined],
  [
    { k: "v" },
    { k: "v2" },
    'detected topology value collision: driver reported "k":"v" but existing label is "k":"v2"',
  ],
  [{ k: "v" }, { k: "" }, 'detected topology value collision: driver reported "k":"v" but existing label is "k":""'],
  [{ constructor: "v" }, {}, undefined],
])("topology %j on a node with %j", (topology, existing, collision) => {
  expect(findTopologyCollision(topology, existing)).toBe(collision);
});
