import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { composeConfiguration } from "../../../config/compose-configuration.ts";
import { createNodeAgentConfig } from "../../../config/node-agent-config.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { readMachineNode, withMachineResources } from "./machine-node.ts";

async function readNode() {
  const flags = new Map();
  const text = JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    systemReserved: { cpu: "500m" },
    maxPods: 7,
  });
  const composed = composeConfiguration({ dropIns: [{ path: "/f", text }], flags });
  const { config } = createNodeAgentConfig({ ...composed, flags, hostname: "node-1", workingDirectory: "/" });
  return await readMachineNode({ machine: createFakeHost().machine, log: silentLog }, config);
}

it("is the node that would be registered, with what the machine has", async () => {
  const { metadata, status } = await readNode();
  expect(metadata).toMatchObject({ name: "node-1", labels: { "kubernetes.io/arch": "amd64" } });
  expect(status?.capacity).toMatchObject({ cpu: "2", pods: "7" });
  expect(status?.allocatable).toMatchObject({ cpu: "1500m", pods: "7" });
});

it("stands in for the status of a node that has none yet, and for nothing else", async () => {
  const machineNode = await readNode();
  const made = { metadata: { name: "node-1", labels: { disk: "fast" } } };
  expect(withMachineResources(made, machineNode)).toEqual({ ...made, status: machineNode.status });
  const told = { ...made, status: { allocatable: { cpu: "1" } } };
  expect(withMachineResources(told, machineNode)).toBe(told);
});
