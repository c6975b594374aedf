import { expect, it } from "vitest";
import { DEFAULT_KUBELET_CONFIGURATION } from "../../../config/kubelet-configuration.ts";
import { computeInitialNode, type InitialNodeOptions } from "./initial-node.ts";

const OPTIONS: InitialNodeOptions = {
  nodeName: "node-1",
  labels: {},
  taints: [],
  isSchedulable: true,
  providerId: "",
  isCloudExternal: false,
  nodeIps: ["192.0.2.11"],
  controllerAttachDetach: DEFAULT_KUBELET_CONFIGURATION.enableControllerAttachDetach ?? false,
};
const nodeOf = (changes: Partial<InitialNodeOptions> = {}) =>
  computeInitialNode({ architecture: "arm64", status: { phase: "x" } }, { ...OPTIONS, ...changes });

it("says what and where it is", () => {
  expect(nodeOf()).toEqual({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "node-1",
      labels: {
        "kubernetes.io/hostname": "node-1",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "arm64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "arm64",
      },
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    },
    spec: {},
    status: { phase: "x" },
  });
});

it("takes the administrator's word over its own", () => {
  const labels = { "kubernetes.io/hostname": "other", "node.kubernetes.io/instance-type": "big" };
  expect(nodeOf({ labels }).metadata?.labels).toMatchObject(labels);
});

const CORDON = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const CLOUD = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
const OWN = { key: "dedicated", value: "x", effect: "NoExecute" };

it.each<[string, Partial<InitialNodeOptions>, object]>([
  ["its taints", { taints: [OWN] }, { taints: [OWN] }],
  ["a cordon with its taint", { isSchedulable: false, taints: [OWN] }, { unschedulable: true, taints: [OWN, CORDON] }],
  ["a cordon's taint once", { isSchedulable: false, taints: [CORDON] }, { unschedulable: true, taints: [CORDON] }],
  ["that a cloud is to finish it", { isCloudExternal: true }, { taints: [CLOUD] }],
  ["what a cloud calls it", { providerId: "aws:///a/i-1" }, { providerID: "aws:///a/i-1" }],
])("has %s", (_what, changes, spec) => {
  expect(nodeOf(changes).spec).toEqual(spec);
});

it("has annotations only for whom they are", () => {
  expect(nodeOf({ controllerAttachDetach: false }).metadata).not.toHaveProperty("annotations");
  expect(nodeOf({ isCloudExternal: true }).metadata?.annotations).toMatchObject({
    "alpha.kubernetes.io/provided-node-ip": "192.0.2.11",
  });
});
