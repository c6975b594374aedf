import type { Pod } from "../../api/gen/types.ts";
import { createBackOff } from "../../base/back-off.ts";
import { MINUTE, SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { RuntimeClasses } from "../cluster/refs/runtime-classes.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import { followRuntimeEvents } from "../pods/pleg/follow-events.ts";
import { countEventStreams } from "../pods/pleg/metrics.ts";
import { createPleg, type Pleg, plegError } from "../pods/pleg/pleg.ts";
import { createPodCache, type PodCache } from "../pods/pleg/pod-cache.ts";
import type { PodProbes } from "../pods/probes/pod-probes.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import type { LoadedProviders } from "../runtime/credential-providers/load-providers.ts";
import { createUserNamespaces } from "../runtime/identity/user-namespaces.ts";
import { type ContainerChanges, createContainerChanges } from "../runtime/logs/container-changes.ts";
import { createPodConfigs } from "../runtime/pod-runtime/create-pod-configs.ts";
import { createPodRuntime } from "../runtime/pod-runtime/create-pod-runtime.ts";
import { createPodFiles, type PodFiles } from "../runtime/pod-runtime/pod-files.ts";
import type { PodRuntime } from "../runtime/pod-runtime/pod-runtime.ts";
import { listRuntimePods, readPodRuntimeStatus } from "../runtime/reading/read-pods.ts";
import { createRuntimeHealth, type RuntimeHealth } from "../runtime/reading/runtime-health.ts";
import { type CgroupParts, composeCgroups } from "./cgroups.ts";
import { composeImages, type ImageParts } from "./images.ts";
import { composeLogRotation } from "./logs.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import { type ClusterVolumeDeps, composeVolumes, type VolumeParts } from "./volumes.ts";

/** The runtime: its health, what it holds, and how pods are run on it. */
export interface RuntimeParts {
  health: RuntimeHealth;
  cache: PodCache;
  pleg: Pleg;
  /** What PLEG sees, for those who wait for one container. */
  containerChanges: ContainerChanges;
  runtime: PodRuntime;
  cgroups: CgroupParts;
  podFiles: PodFiles;
  volumes: VolumeParts;
  images: ImageParts;
  /** Whether the pod's handler, as far as it is known, can make read-only what is mounted beneath a mount. */
  supportsRecursiveReadOnly(pod: Pod): boolean;
  /** Why no pod can be worked on now; undefined when all is well. */
  runtimeError(): string | undefined;
  /** Why the node is not ready, the same and the network's. */
  errors(): readonly string[];
  parts: readonly Part[];
}

/** Upstream's crash-loop back-off: 10 s, doubling to 5 min, over after a run of 10 min. */
const RESTART_BACK_OFF = { initialMs: 10 * SECOND, maxMs: 5 * MINUTE };

interface RuntimePartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  inbox: LoopInbox;
  facts: NodeFacts;
  probes: Pick<PodProbes, "verdictOf">;
  cluster: ClusterVolumeDeps | undefined;
  /** Of credentials for images; undefined: none. */
  providers: LoadedProviders | undefined;
}

/** Builds everything that talks to the runtime; what it notices goes to the inbox. */
export function composeRuntime(deps: RuntimePartsDeps, config: NodeAgentConfig): RuntimeParts {
  const { ports, timeline, inbox, facts, cluster } = deps;
  const refs = cluster?.refs;
  const { host, cri, log, metrics } = ports;
  const { clock, files } = host;
  const { kubelet, rootDirectory, podLogsDirectory, containerLogsDirectory } = config;

  const health = createRuntimeHealth({ runtime: cri.runtime, clock, log });
  const cache = createPodCache(() => clock.now());
  const containerChanges = createContainerChanges();
  const pleg = createPleg({
    clock,
    log,
    metrics,
    cache,
    listPods: async (signal) => await listRuntimePods(cri.runtime, signal),
    readPodStatus: async (pod, signal) => await readPodRuntimeStatus({ runtime: cri.runtime, host }, pod, signal),
    onEvent(event) {
      inbox.offerLifecycleEvent(event);
      containerChanges.tell(event.id);
    },
    onRelist: () => inbox.offerRelisted(),
  });
  const images = composeImages({ ports, timeline, cluster, providers: deps.providers }, config);
  const volumes = composeVolumes({ ports, timeline, facts, cluster }, config);
  const userNamespaces = createUserNamespaces(
    { files },
    { rootDirectory, maxPods: kubelet.maxPods, idsPerPod: kubelet.userNamespaces?.idsPerPod },
  );
  const podFiles = createPodFiles(
    { files, subPaths: volumes.subPaths, userNamespaces },
    { rootDirectory, clusterDomain: facts.clusterDomain, seLinuxEnabled: facts.seLinuxEnabled },
  );
  const cgroups = composeCgroups({ ports, facts }, config);
  const handlers = composeHandlers(health, refs?.runtimeClasses);
  const runtime = createPodRuntime({
    cri,
    host,
    timeline,
    metrics,
    configs: createPodConfigs(facts, {
      refs: refs && { ...refs.objects, services: () => refs.services },
      userNamespaces,
      cgroupParentOf: cgroups.pods?.parentOf,
    }),
    ...handlers.deps,
    runtimeVersion: health.runtime,
    backOff: createBackOff(RESTART_BACK_OFF),
    ensureImage: images.ensurer.ensureImage,
    podFiles,
    verdictOf: deps.probes.verdictOf,
    hostIps: () => facts.hostIps,
    podLogsDirectory,
    containerLogsDirectory,
  });
  const listening = countEventStreams(pleg, metrics);
  const parts = [
    { name: "runtime health", run: health.run },
    { name: "PLEG", run: pleg.run },
    {
      name: "runtime events",
      run: async (signal: AbortSignal) => await followRuntimeEvents(ports.events, listening, signal),
    },
    ...composeLogRotation({ ports, pleg }, config),
    ...volumes.parts,
  ];
  const runtimeError = () => health.runtimeError() ?? plegError(pleg.health());
  const errors = () => [runtimeError(), health.networkError()].filter((error) => error !== undefined);
  const { supportsRecursiveReadOnly } = handlers;
  const known = { health, cache, pleg, containerChanges, images, cgroups };
  return { ...known, runtime, podFiles, volumes, supportsRecursiveReadOnly, runtimeError, errors, parts };
}

/** What pods' handlers can do: by the word of the runtime, and by the runtime classes where there is an API server. */
function composeHandlers(health: Pick<RuntimeHealth, "runtime">, classes: RuntimeClasses | undefined) {
  const featuresOf = (handler: string) => health.runtime().handlers.find(({ name }) => name === handler)?.features;
  const knownHandlerOf = (pod: Pod) => {
    if (classes !== undefined) return classes.knownHandlerOf(pod);
    return pod.spec?.runtimeClassName ? undefined : "";
  };
  const deps = {
    runtimeHandlerOf: classes?.handlerOf,
    supportsUserNamespaces: (handler: string) => featuresOf(handler)?.userNamespaces === true,
    supportsRecursiveReadOnly: (handler: string) => featuresOf(handler)?.recursiveReadOnlyMounts === true,
    supportsSupplementalGroupsPolicy: () => health.runtime().features?.supplementalGroupsPolicy === true,
  };
  return {
    deps,
    supportsRecursiveReadOnly(pod: Pod): boolean {
      const handler = knownHandlerOf(pod);
      return handler !== undefined && deps.supportsRecursiveReadOnly(handler);
    },
  };
}
