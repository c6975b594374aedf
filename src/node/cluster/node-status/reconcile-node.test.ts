import { describe, expect, it } from "vitest";
import type { Node, NodeStatus, ObjectMeta } from "../../../api/gen/types.ts";
import { computeNodePatch } from "./node-patch.ts";
import { reconcileExistingNode } from "./reconcile-node.ts";

const node = (metadata: ObjectMeta, status: NodeStatus = {}): Node => ({ metadata, status });
const patchOf = (initial: Node, existing: Node, resetExtendedResources = true) =>
  computeNodePatch(existing, reconcileExistingNode(initial, existing, { resetExtendedResources }));
const ATTACH = "volumes.kubernetes.io/controller-managed-attach-detach";

it("changes nothing on a node that is as it should be", () => {
  const labels = { "kubernetes.io/hostname": "n", own: "label" };
  const existing = node({ labels, annotations: { [ATTACH]: "true" } }, { capacity: { cpu: "1" } });
  expect(
    patchOf(node({ labels, annotations: { [ATTACH]: "true" } }, { capacity: { cpu: "2" } }), existing),
  ).toBeUndefined();
});

describe("labels", () => {
  it("follow the node where Kubernetes defines them, and stay an administrator's elsewhere", () => {
    const initial = { "kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "z", own: "new" };
    const existing = { "kubernetes.io/hostname": "old", own: "old", theirs: "x" };
    expect(patchOf(node({ labels: initial }), node({ labels: existing }))).toEqual({
      metadata: { labels: { "kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "z" } },
    });
  });
  it("go where they were emptied", () => {
    const [initial, existing] = ["", "z"].map((zone) => node({ labels: { "topology.kubernetes.io/zone": zone } }));
    expect(patchOf(initial ?? {}, existing ?? {})).toEqual({
      metadata: { labels: { "topology.kubernetes.io/zone": null } },
    });
  });
});

it.each([
  [{ [ATTACH]: "true" }, { other: "x" }, { [ATTACH]: "true" }],
  [{}, { [ATTACH]: "true", other: "x" }, { [ATTACH]: null }],
])("says who attaches volumes: %o on %o", (initial, existing, annotations) => {
  expect(patchOf(node({ annotations: initial }), node({ annotations: existing }))).toEqual({
    metadata: { annotations },
  });
});

it("counts no device that nobody has told of since the start", () => {
  const amounts = { cpu: "1", "example.com/gpu": "2", "example.com/gone": "0" };
  const existing = node({}, { capacity: amounts, allocatable: amounts });
  expect(patchOf(node({}), existing)).toEqual({
    status: { capacity: { "example.com/gpu": "0" }, allocatable: { "example.com/gpu": "0" } },
  });
  expect(patchOf(node({}), existing, false)).toBeUndefined();
});

it("has the huge pages that the kernel has", () => {
  const before = { cpu: "1", "hugepages-1Gi": "1Gi", "hugepages-2Mi": "0" };
  const now = { "hugepages-2Mi": "4Mi", "hugepages-32Mi": "0" };
  const change = { "hugepages-1Gi": null, "hugepages-2Mi": "4Mi", "hugepages-32Mi": "0" };
  expect(
    patchOf(node({}, { capacity: now, allocatable: now }), node({}, { capacity: before, allocatable: before })),
  ).toEqual({
    status: { capacity: change, allocatable: change },
  });
});
