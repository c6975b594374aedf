import { CodedError } from "../base/errors.ts";
import { implement, type ServedService } from "../grpc/served-service.ts";
import { PodResourcesListerDefinition as V1 } from "./gen/pod-resources-v1.ts";
import { PodResourcesListerDefinition as V1Alpha1 } from "./gen/pod-resources-v1alpha1.ts";
import type {
  ContainerResourceUse,
  DeviceUse,
  MemoryUse,
  PodResourcesMethod,
  PodResourcesSource,
  PodResourcesVersion,
  PodUse,
} from "./port.ts";

interface PodResourcesDeps {
  readonly source: PodResourcesSource;
  /** False where there have been too many calls lately. */
  mayCall(): boolean;
  onCall(method: PodResourcesMethod, version: PodResourcesVersion): void;
  /** The call failed; one that came too soon is none. */
  onError(method: PodResourcesMethod, version: PodResourcesVersion): void;
}

/** Upstream's podresources in both versions (pkg/kubelet/apis/podresources). */
export function servePodResources({ source, mayCall, onCall, onError }: PodResourcesDeps): ServedService[] {
  const begin = (method: PodResourcesMethod, version: PodResourcesVersion) => {
    if (!mayCall()) throw new CodedError("resource-exhausted", "rejected by rate limit");
    onCall(method, version);
  };
  const v1 = implement(V1, {
    list() {
      begin("list", "v1");
      return { podResources: source.list().map(writePod) };
    },
    get({ podNamespace, podName }) {
      begin("get", "v1");
      const pod = source.get(podNamespace, podName);
      if (pod !== undefined) return { podResources: writePod(pod) };
      onError("get", "v1");
      throw new Error(`pod ${podName} in namespace ${podNamespace} not found`);
    },
    getAllocatableResources() {
      begin("get_allocatable", "v1");
      const devices = source.allocatableDevices().map(writeDevice);
      const memory = source.allocatableMemory().map(writeMemory);
      return { devices, cpuIds: source.allocatableCpus().map(BigInt), memory };
    },
  });
  const v1alpha1 = implement(V1Alpha1, {
    list() {
      begin("list", "v1alpha1");
      return { podResources: source.list().map(writeEarlyPod) };
    },
  });
  return [v1, v1alpha1];
}

function writePod({ name, namespace, containers }: PodUse) {
  return { name, namespace, containers: containers.map(writeContainer), cpuIds: [], memory: [] };
}

function writeContainer({ name, devices, cpus, memory, claims }: ContainerResourceUse) {
  return {
    name,
    devices: devices.map(writeDevice),
    cpuIds: cpus.map(BigInt),
    memory: memory.map(writeMemory),
    dynamicResources: claims.map(writeClaim),
  };
}

function writeClaim({ namespace, name, devices }: ContainerResourceUse["claims"][number]) {
  return {
    claimName: name,
    claimNamespace: namespace,
    claimResources: devices.map(({ driver, poolName, deviceName, shareId, cdiDeviceIds }) => ({
      cdiDevices: cdiDeviceIds.map((id) => ({ name: id })),
      driverName: driver,
      poolName,
      deviceName,
      shareId,
    })),
  };
}

function writeMemory({ resource, size, numaNodes }: MemoryUse) {
  return {
    memoryType: resource,
    size: BigInt(size),
    topology: { nodes: numaNodes.map((node) => ({ ID: BigInt(node) })) },
  };
}

function writeDevice({ resource, id, numaNode }: DeviceUse) {
  const topology = numaNode === undefined ? undefined : { nodes: [{ ID: BigInt(numaNode) }] };
  return { resourceName: resource, deviceIds: [id], topology };
}

/** The first version knows neither sidecars nor NUMA nodes. */
function writeEarlyPod({ name, namespace, containers }: PodUse) {
  const main = containers.filter(({ isSidecar }) => !isSidecar);
  return {
    name,
    namespace,
    containers: main.map((container) => ({
      name: container.name,
      devices: container.devices.map(({ resource, id }) => ({ resourceName: resource, deviceIds: [id] })),
    })),
  };
}
