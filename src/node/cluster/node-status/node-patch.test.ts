import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Node, NodeStatus } from "../../../api/gen/types.ts";
import { NODES } from "../../../api/kube-resource.ts";
import { isRecord } from "../../../api/object.ts";
import { applyStrategicMergePatch } from "../../../api/patch/strategic-merge.ts";
import { servedNode } from "../../../api/schema-node.ts";
import { computeNodePatch, isNodeChanged } from "./node-patch.ts";

const node = (status: NodeStatus, metadata: Node["metadata"] = {}): Node => ({ metadata, status });
const ready = (status: string, lastHeartbeatTime: string) => ({ type: "Ready", status, lastHeartbeatTime });

const apply = (current: unknown, patch: unknown) => applyStrategicMergePatch(current, patch, servedNode("Node"));
const asNode = (value: unknown) => NODES.read({ kind: "Node", ...Object(value) });

/** Removes empty values, because an empty value and a missing one are the same to the API. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value;
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).map(([name, item]) => [name, withoutEmpty(item)] as const);
  return Object.fromEntries(
    kept.filter(([, item]) => !(typeof item === "object" && item !== null && Object.keys(item).length === 0)),
  );
}

it("is nothing where nothing differs, and where only emptiness does", () => {
  const plain = node({ capacity: { cpu: "1" } }, { labels: { a: "b" } });
  expect(computeNodePatch(plain, structuredClone(plain))).toBeUndefined();
  const empty = node(
    { capacity: { cpu: "1" }, images: [], volumesInUse: [], conditions: [] },
    { labels: { a: "b" }, annotations: {} },
  );
  expect(computeNodePatch(plain, empty)).toBeUndefined();
  expect(computeNodePatch(empty, plain)).toBeUndefined();
});

it("has the fields that differ and no others", () => {
  const before = node({ capacity: { cpu: "1", memory: "1Gi" }, images: [{ sizeBytes: 1 }, { sizeBytes: 2 }] });
  const after = node({ capacity: { cpu: "2" }, images: [{ sizeBytes: 1 }] }, { labels: { a: "b" } });
  expect(computeNodePatch(before, after)).toEqual({
    metadata: { labels: { a: "b" } },
    status: { capacity: { cpu: "2", memory: null }, images: [{ sizeBytes: 1 }] },
  });
});

it("takes away field by field, so that what others add meanwhile stays", () => {
  const before = node({ allocatable: { cpu: "1" } }, { annotations: { a: "b" } });
  const patch = computeNodePatch(before, node({}, {}));
  expect(patch).toEqual({ metadata: { annotations: { a: null } }, status: { allocatable: { cpu: null } } });
});

it("CVE-2025-5187: never has owners, spec or anything else that a node must not write", () => {
  const before: Node = { metadata: { uid: "1" }, spec: {}, status: {} };
  const after: Node = {
    metadata: {
      uid: "2",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "1" }],
      finalizers: ["f"],
      name: "other",
    },
    spec: { unschedulable: true, taints: [] },
    status: { phase: "x" },
  };
  expect(computeNodePatch(before, after)).toEqual({ status: { phase: "x" } });
});

it("replaces addresses, which may have two of a type", () => {
  const addresses = ["192.0.2.1", "2001:db8::1"].map((address) => ({ type: "InternalIP", address }));
  const patch = computeNodePatch(node({ addresses: addresses.slice(0, 1) }), node({ addresses }));
  expect(patch).toEqual({ status: { addresses: [...addresses, { $patch: "replace" }] } });
  expect(apply(node({ addresses: addresses.slice(0, 1) }), patch)).toEqual(node({ addresses }));
});

it("sends a heartbeat as small as it is", () => {
  const before = node({ conditions: [{ type: "Other", status: "True" }, ready("True", "1")] });
  const after = node({ conditions: [{ type: "Other", status: "True" }, ready("True", "2")] });
  expect(computeNodePatch(before, after)).toEqual({
    status: {
      "$setElementOrder/conditions": [{ type: "Other" }, { type: "Ready" }],
      conditions: [{ type: "Ready", lastHeartbeatTime: "2" }],
    },
  });
});

describe("a change", () => {
  const before = node({ conditions: [{ type: "A", status: "True" }, ready("True", "1")], phase: "x" });
  it.each<[string, boolean, NodeStatus]>([
    [
      "is none when only heartbeat times differ",
      false,
      { conditions: [{ type: "A", status: "True" }, ready("True", "2")], phase: "x" },
    ],
    [
      "is none when conditions are in another order",
      false,
      { conditions: [ready("True", "1"), { type: "A", status: "True" }], phase: "x" },
    ],
    [
      "is another condition's status",
      true,
      { conditions: [{ type: "A", status: "True" }, ready("False", "1")], phase: "x" },
    ],
    ["is a condition less", true, { conditions: [ready("True", "1")], phase: "x" }],
    ["is any other field", true, { ...before.status, phase: "y" }],
  ])("%s", (_what, expected, status) => {
    expect(isNodeChanged(before, node(status))).toBe(expected);
  });
});

it("makes the one node the other, whatever they are", () => {
  const text = fc.constantFrom("a", "b", "c");
  const words = fc.dictionary(text, text);
  const amounts = fc.dictionary(text, fc.constantFrom("1", "2Gi"));
  const anyNode = fc.record({
    metadata: fc.record({ labels: words, annotations: words }),
    status: fc.record({
      capacity: amounts,
      allocatable: amounts,
      addresses: fc.array(fc.record({ type: text, address: text }), { maxLength: 3 }),
      conditions: fc.uniqueArray(
        fc.record({ type: text, status: text, reason: text, message: text }, { requiredKeys: ["type", "status"] }),
        { selector: ({ type }) => type },
      ),
      images: fc.array(fc.record({ names: fc.array(text), sizeBytes: fc.nat() }), { maxLength: 2 }),
      volumesInUse: fc.array(text, { maxLength: 2 }),
      nodeInfo: fc.record({ bootID: text, swap: fc.option(fc.record({ capacity: fc.nat() }), { nil: undefined }) }),
    }),
  });
  fc.assert(
    fc.property(anyNode, anyNode, (before, after) => {
      const [current, desired]: unknown[] = JSON.parse(JSON.stringify([before, after]));
      const patched = apply(current, computeNodePatch(asNode(current), asNode(desired)) ?? {});
      expect(withoutEmpty(patched)).toEqual(withoutEmpty(desired));
    }),
  );
});
