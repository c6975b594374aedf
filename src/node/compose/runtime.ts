import { createBackOff } from "../../base/back-off.ts";
import type { Part } from "../../base/run-parts.ts";
import { recordMemoryPeaks } from "../pods/status/record-memory-peaks.ts";
import { createSizing, type NodeCpus } from "../resources/cpus/node-cpus.ts";
import type { NodeDeviceClaims } from "../resources/device-claims/node-device-claims.ts";
import type { NodeMemory } from "../resources/memory/node-memory.ts";
import { createUserNamespaces } from "../runtime/identity/user-namespaces.ts";
import { crashLoopBackOffRange } from "../runtime/pod-runtime/crash-loop-back-off.ts";
import { createPodConfigs } from "../runtime/pod-runtime/create-pod-configs.ts";
import { createPodRuntime } from "../runtime/pod-runtime/create-pod-runtime.ts";
import { createPodFiles, type PodFiles } from "../runtime/pod-runtime/pod-files.ts";
import { createPodResizer } from "../runtime/pod-runtime/pod-resizer.ts";
import type { PodRuntime } from "../runtime/pod-runtime/pod-runtime.ts";
import { createHandlerFeatures, type HandlerFeatures } from "../runtime/reading/handler-features.ts";
import { type CgroupParts, composeCgroups } from "./cgroups.ts";
import type { ClusterParts } from "./cluster.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import { composeImages, type ImageParts } from "./images.ts";
import { composeLogRotation } from "./logs.ts";
import type { PodData } from "./pod-data.ts";
import type { ProbeParts } from "./probes.ts";
import type { ReadingParts } from "./readings.ts";
import { composeResources, type ResourceParts } from "./resizes.ts";
import { composeVolumes, type VolumeParts } from "./volumes.ts";

/** How pods are run: their sandboxes and containers, and what they are made of. */
export interface RuntimeParts {
  readonly pods: PodRuntime;
  readonly handlers: HandlerFeatures;
  readonly images: ImageParts;
  readonly volumes: VolumeParts;
  readonly cgroups: CgroupParts;
  readonly podFiles: PodFiles;
  readonly resources: ResourceParts;
  readonly parts: readonly Part[];
}

interface RuntimeNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly data: PodData;
  readonly cpus: NodeCpus | undefined;
  readonly memory: NodeMemory | undefined;
  readonly devices: DeviceParts;
  readonly deviceClaims: NodeDeviceClaims | undefined;
  readonly readings: ReadingParts;
  readonly probes: ProbeParts;
}

/** Rejects where the configuration names what is not there: a root of cgroups, plugins for credentials. */
export async function composeRuntime(
  foundation: Foundation,
  { cluster, data, cpus, memory, devices, deviceClaims, readings, probes }: RuntimeNeighbours,
): Promise<RuntimeParts> {
  const { ports, config, facts, timeline } = foundation;
  const { host, cri, metrics } = ports;
  const { kubelet, rootDirectory, podLogsDirectory, containerLogsDirectory } = config;
  const { health } = readings;
  const refs = cluster?.refs;
  const images = await composeImages(foundation, { cluster, data });
  const volumes = composeVolumes(foundation, { cluster, data });
  const cgroups = composeCgroups(foundation, cpus);
  recordMemoryPeaks({ ...foundation, log: ports.log, sizesOf: cgroups.pods?.sizes });
  const handlers = createHandlerFeatures({ health, classes: refs?.runtimeClasses });
  const userNamespaces = createUserNamespaces(
    { files: host.files },
    { rootDirectory, maxPods: kubelet.maxPods, idsPerPod: kubelet.userNamespaces?.idsPerPod },
  );
  const podFiles = createPodFiles(
    { files: host.files, subPaths: volumes.subPaths, userNamespaces },
    { rootDirectory, clusterDomain: facts.clusterDomain, seLinuxEnabled: facts.seLinuxEnabled },
  );
  const resources = await composeResources(foundation);
  const { actuated } = resources;
  const factsOf = createSizing(facts, cpus);
  const resizer = createPodResizer({
    runtime: cri.runtime,
    cgroups: cgroups.pods,
    factsOf,
    actuated,
    clock: host.clock,
    metrics,
  });
  const pods = createPodRuntime({
    cri,
    host,
    timeline,
    metrics,
    configs: createPodConfigs(facts, {
      files: host.files,
      refs: { ...data.objects, services: () => data.services },
      userNamespaces,
      cgroupParentOf: cgroups.pods?.parentOf,
      devices: devices.containers,
      deviceClaims,
      cpus,
      memory,
    }),
    ...handlers,
    runtimeHandlerOf: refs?.runtimeClasses.handlerOf,
    runtimeVersion: health.runtime,
    backOff: createBackOff(crashLoopBackOffRange(config)),
    ensureImage: images.ensurer.ensureImage,
    podFiles,
    resizer,
    verdictOf: probes.probes.verdictOf,
    endProbes: probes.probes.end,
    hostIps: () => facts.hostIps,
    podLogsDirectory,
    containerLogsDirectory,
  });
  const parts = [...composeLogRotation(foundation, readings), ...volumes.parts];
  return { pods, handlers, images, volumes, cgroups, podFiles, resources, parts };
}
