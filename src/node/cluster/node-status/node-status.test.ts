import { expect, it } from "vitest";
import type { NodeStatus } from "../../../api/gen/types.ts";
import { statusInput } from "./__fixtures__/status-input.ts";
import { computeNodeStatus, type NodeStatusInput } from "./node-status.ts";

const T0 = Date.UTC(2026, 0, 1);
const TIME = "2026-01-01T00:00:00Z";
const statusOf = (changes: Partial<NodeStatusInput> = {}, previous: NodeStatus = {}) =>
  computeNodeStatus(statusInput(changes), previous, T0).status;

it("tells all of a new node", () => {
  const times = { lastHeartbeatTime: TIME, lastTransitionTime: TIME };
  expect(statusOf()).toEqual({
    capacity: { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi", pods: "110" },
    allocatable: { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi", pods: "110" },
    addresses: [
      { type: "InternalIP", address: "192.0.2.10" },
      { type: "Hostname", address: "node-1" },
    ],
    conditions: [
      {
        type: "MemoryPressure",
        status: "False",
        reason: "KubeletHasSufficientMemory",
        message: "kubelet has sufficient memory available",
        ...times,
      },
      {
        type: "DiskPressure",
        status: "False",
        reason: "KubeletHasNoDiskPressure",
        message: "kubelet has no disk pressure",
        ...times,
      },
      {
        type: "PIDPressure",
        status: "False",
        reason: "KubeletHasSufficientPID",
        message: "kubelet has sufficient PID available",
        ...times,
      },
      { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status", ...times },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      machineID: "machine",
      systemUUID: "uuid",
      bootID: "boot-1",
      kernelVersion: "6.1.0",
      osImage: "Debian GNU/Linux 12 (bookworm)",
      architecture: "amd64",
      operatingSystem: "linux",
      containerRuntimeVersion: "containerd://1.6.20",
      kubeletVersion: expect.stringMatching(/^v1\.\d+\.\d+\+nodelet\./),
      kubeProxyVersion: "",
    },
    runtimeHandlers: [],
  });
});

it.each([
  ["v2.0.0", "2.0.0"],
  ["1.7.2-rc.1+x", "1.7.2-rc.1+x"],
  ["1.6.20~ds1-1+b1", "1.6.20"],
  ["git", "Unknown"],
])("writes the runtime's version as upstream: %s is %s", (version, expected) => {
  const { nodeInfo } = statusOf({ runtime: { name: "cri-o", version, handlers: [], features: undefined } });
  expect(nodeInfo?.containerRuntimeVersion).toBe(`cri-o://${expected}`);
});

it("takes the runtime that was there for the one that has not answered yet", () => {
  const silent = { runtime: { name: "", version: "", handlers: [], features: undefined } };
  const before = statusOf({
    runtime: {
      ...silent.runtime,
      name: "containerd",
      version: "2.0.0",
      handlers: [{ name: "runc", features: undefined }],
    },
  });
  expect(statusOf(silent, before)).toMatchObject({
    nodeInfo: { containerRuntimeVersion: "containerd://2.0.0" },
    runtimeHandlers: [{ name: "runc" }],
  });
  expect(statusOf(silent).nodeInfo?.containerRuntimeVersion).toBe("Unknown://Unknown");
});

it("tells the runtime's handlers by name, and its features", () => {
  const handlers = [
    { name: "runc", features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
    { name: "", features: undefined },
  ];
  const features = { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false, mountOptions: false };
  expect(statusOf({ runtime: { name: "containerd", version: "2.0.0", handlers, features } })).toMatchObject({
    runtimeHandlers: [
      { name: "", features: { recursiveReadOnlyMounts: false, userNamespaces: false } },
      { name: "runc", features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
    ],
    features: { supplementalGroupsPolicy: true },
  });
});

it("tells swap where there is some", () => {
  const { machine } = statusInput();
  expect(statusOf({ machine: { ...machine, swapBytes: 1024n } }).nodeInfo?.swap).toEqual({ capacity: 1024 });
});

it("keeps what is not the node's, and what it does not know yet", () => {
  const previous: NodeStatus = {
    capacity: { cpu: "1", "example.com/gpu": "2" },
    allocatable: { "example.com/gpu": "1", "example.com/gone": "1", "attachable-volumes-x": "3" },
    conditions: [{ type: "NetworkUnavailable", status: "False", reason: "RouteCreated" }],
    volumesAttached: [{ name: "v", devicePath: "/dev/v" }],
    volumesInUse: ["v"],
    images: [{ names: ["i"], sizeBytes: 1 }],
    declaredFeatures: ["F"],
  };
  const status = statusOf({}, previous);
  const { volumesAttached, volumesInUse, images, declaredFeatures } = previous;
  expect(status).toMatchObject({ volumesAttached, volumesInUse, images, declaredFeatures });
  expect(status.conditions?.map(({ type }) => type)).toEqual([
    "NetworkUnavailable",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
    "Ready",
  ]);
  expect(status.capacity).toMatchObject({ cpu: "4", "example.com/gpu": "2" });
  expect(status.allocatable).toMatchObject({ "example.com/gpu": "2", "attachable-volumes-x": "3" });
  expect(status.allocatable).not.toHaveProperty("example.com/gone");
});

it("replaces what it does know", () => {
  const volumesAttached = [{ name: "b", devicePath: "" }];
  const images = [{ names: ["j"], sizeBytes: 2 }];
  const input = { volumesInUse: ["b"], volumesAttached, images };
  const previous = { volumesInUse: ["a"], volumesAttached: [], images: [] };
  expect(statusOf(input, previous)).toMatchObject(input);
  expect(statusOf({ volumesAttached: [] }, { volumesAttached }).volumesAttached).toEqual([]);
});

it("declares what it can do once the runtime has told what that can do, and nothing that it cannot", () => {
  const previous: NodeStatus = { declaredFeatures: ["SomethingOld"] };
  const declaredBy = (userNamespacesHostNetwork: boolean, declaringGates?: NodeStatusInput["declaringGates"]) => {
    const features = { supplementalGroupsPolicy: false, userNamespacesHostNetwork, mountOptions: false };
    const runtime = { name: "containerd", version: "2.3.0", handlers: [], features };
    const { declaredFeatures = [] } = statusOf({ runtime, declaringGates }, previous);
    return declaredFeatures.filter((name) => !name.startsWith("InPlacePod"));
  };
  const gates = {
    ExtendWebSocketsToKubelet: false,
    UserNamespacesHostNetworkSupport: true,
    RestartAllContainersOnContainerExits: false,
  };
  expect(declaredBy(true, gates)).toEqual(["UserNamespacesHostNetworkSupport"]);
  expect(declaredBy(false, gates)).toEqual([]);
  expect(declaredBy(true, { ...gates, UserNamespacesHostNetworkSupport: false })).toEqual([]);
  expect(declaredBy(true)).toEqual(["SomethingOld"]);
  const silent = { name: "", version: "", handlers: [], features: undefined };
  expect(statusOf({ runtime: silent, declaringGates: gates }, previous).declaredFeatures).toEqual(["SomethingOld"]);
});

it("is not ready without all that a node must have", () => {
  const { machine } = statusInput();
  const input = { machine: { ...machine, ephemeralStorageBytes: undefined } };
  expect(statusOf({ ...input, errors: ["PLEG is not healthy"] }).conditions?.at(-1)).toMatchObject({
    status: "False",
    message: "[PLEG is not healthy, missing node capacity for resources: ephemeral-storage]",
  });
  expect(statusOf({ ...input, localStorageCapacityIsolation: false }).conditions?.at(-1)).toMatchObject({
    status: "True",
  });
});

it("tells no ephemeral storage where it is not counted, not even that of before", () => {
  const before = { cpu: "2", "ephemeral-storage": "100Gi", "example.com/gpu": "1" };
  const status = statusOf({ localStorageCapacityIsolation: false }, { capacity: before, allocatable: before });
  expect(status.capacity).not.toHaveProperty("ephemeral-storage");
  expect(status.allocatable).not.toHaveProperty("ephemeral-storage");
  expect(status.capacity).toHaveProperty(["example.com/gpu"], "1");
});

it("says why it cannot tell the addresses", () => {
  const verdict = computeNodeStatus(statusInput({ nodeIps: ["127.0.0.1"] }), {}, T0);
  expect(verdict).toMatchObject({ problem: expect.stringContaining("loopback"), status: { addresses: [] } });
});
