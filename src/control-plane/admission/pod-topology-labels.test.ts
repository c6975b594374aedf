import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { pod, readerOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createPodTopologyLabels } from "./pod-topology-labels.ts";

const [ZONE, REGION] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"] as const;
const node = (name: string, labels: Readonly<Record<string, string>>): KubeObject => {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
};
const plugin = createPodTopologyLabels(
  readerOf({ nodes: [node("a", { [ZONE]: "z1", [REGION]: "r1", other: "x" }), node("bare", { other: "x" })] }),
);
const binding = (target: object, labels: Readonly<Record<string, string>> = {}): KubeObject => {
  return { apiVersion: "v1", kind: "Binding", metadata: { name: "p", labels }, target };
};
const labelsOf = (target: string, object: KubeObject, operation: "CREATE" | "UPDATE" = "CREATE") =>
  plugin.mutate?.(requestFor(target, { operation, object }))?.metadata.labels;

it("a Binding carries the zone and region of its node, and keeps its own labels", () => {
  expect(labelsOf("pods/binding", binding({ kind: "Node", name: "a" }))).toEqual({ [ZONE]: "z1", [REGION]: "r1" });
  expect(labelsOf("pods/binding", binding({ kind: "Node", name: "a" }, { [ZONE]: "own" }))).toEqual({
    [ZONE]: "own",
    [REGION]: "r1",
  });
});

it("a pod that is created for a node has them at once", () => {
  expect(labelsOf("pods", pod({ nodeName: "a" }))).toMatchObject({ [ZONE]: "z1", [REGION]: "r1" });
});

it.each<[string, Parameters<typeof labelsOf>]>([
  ["a pod without a node", ["pods", pod({})]],
  ["a pod that is updated", ["pods", pod({ nodeName: "a" }), "UPDATE"]],
  ["a node without such labels", ["pods/binding", binding({ kind: "Node", name: "bare" })]],
  ["a node that is not there", ["pods/binding", binding({ kind: "Node", name: "gone" })]],
  ["a target that is no node", ["pods/binding", binding({ kind: "Pod", name: "a" })]],
])("%s changes nothing", (_what, call) => {
  expect(labelsOf(...call)).toBeUndefined();
});
