import { expect, it } from "vitest";
import { composeConfiguration } from "../../../config/compose-configuration.ts";
import { createNodeAgentConfig } from "../../../config/node-agent-config.ts";
import { parseFlags } from "../../../config/parse-flags.ts";
import { createInitialNodeOptions, createNodeStatusSettings } from "./node-settings.ts";

function configOf(...given: string[]) {
  const parsed = parseFlags(given);
  if (!parsed.ok) throw new Error(parsed.error);
  const { configuration, featureGates } = composeConfiguration({ dropIns: [], flags: parsed.values });
  const machine = { hostname: "node-1", workingDirectory: "/work" };
  return createNodeAgentConfig({ configuration, featureGates, flags: parsed.values, ...machine }).config;
}

it("takes kubelet's defaults", () => {
  expect(createNodeStatusSettings(configOf())).toEqual({
    nodeName: "node-1",
    nodeIps: [],
    isCloudExternal: false,
    maxPods: 110,
    podsPerCore: 0,
    reservations: {
      kubeReserved: {},
      systemReserved: {},
      reservedSystemCpus: "",
      evictionHard: expect.objectContaining({ "memory.available": "100Mi", "nodefs.available": "10%" }),
    },
    kubeletPort: 10_250,
    localStorageCapacityIsolation: true,
    declaringGates: expect.objectContaining({ UserNamespacesHostNetworkSupport: false }),
  });
  expect(createInitialNodeOptions(configOf())).toEqual({
    nodeName: "node-1",
    labels: {},
    taints: [],
    isSchedulable: true,
    providerId: "",
    isCloudExternal: false,
    nodeIps: [],
    controllerAttachDetach: true,
  });
});

it("takes what flags say", () => {
  const config = configOf(
    "--kubeconfig=/k",
    "--node-ip=192.0.2.11",
    "--cloud-provider=external",
    "--node-labels=a=1",
    "--register-with-taints=dedicated=x:NoSchedule,quiet=:NoExecute",
    "--register-schedulable=false",
    "--provider-id=aws:///i-1",
    "--max-pods=7",
    "--pods-per-core=3",
    "--kube-reserved=cpu=100m",
    "--system-reserved=memory=1Gi",
    "--port=10260",
    "--feature-gates=NodeDeclaredFeatures=false",
  );
  expect(createNodeStatusSettings(config)).toMatchObject({
    nodeIps: ["192.0.2.11"],
    isCloudExternal: true,
    maxPods: 7,
    podsPerCore: 3,
    reservations: { kubeReserved: { cpu: "100m" }, systemReserved: { memory: "1Gi" } },
    kubeletPort: 10_260,
    declaringGates: undefined,
  });
  expect(createInitialNodeOptions(config)).toMatchObject({
    labels: { a: "1" },
    taints: [
      { key: "dedicated", value: "x", effect: "NoSchedule" },
      { key: "quiet", effect: "NoExecute" },
    ],
    isSchedulable: false,
    providerId: "aws:///i-1",
    isCloudExternal: true,
    nodeIps: ["192.0.2.11"],
  });
});
