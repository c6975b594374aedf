import type { Container, Pod, ResourceRequirements } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { isAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Metrics } from "../../../base/metrics.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { isCriError, type RuntimeService } from "../../../cri/port.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { CgroupUsage } from "../../../host/cgroups-port.ts";
import { type PodResourceInfo, resourcesIn } from "../../resources/records/pod-resource-info.ts";
import type { ResourceRecords } from "../../resources/records/resource-records.ts";
import {
  computeContainerResources,
  computeOverheadResources,
  computeSandboxResources,
} from "../../resources/sizes/container-size.ts";
import type { SizingFacts } from "../../resources/sizes/sizing-facts.ts";
import { byGrowth, type ContainerResize, changes } from "../plan/container-resize.ts";
import type { PodResize } from "../plan/pod-actions.ts";
import { planPodLimits } from "./pod-limits.ts";

/** Gives running containers, and the cgroup of their pod, the resources that the node has granted. */
export interface PodResizer {
  /** What the pod's containers have got, as far as it is recorded. */
  actuatedOf(uid: string): PodResourceInfo | undefined;
  /** The container is about to be made with what the pod grants it. */
  starts(pod: Pod, container: Container): void;
  /** Returns why the resize failed; it is tried again by the next sync, from where it came to. Rejects only by an abort. */
  resize(run: ResizeRun, signal: AbortSignal): Promise<string | undefined>;
  forget(uid: string): void;
}

interface ResizeRun {
  readonly pod: Pod;
  readonly sandboxId: string | undefined;
  readonly resize: PodResize;
}

interface PodResizerDeps {
  readonly runtime: Pick<RuntimeService, "updateContainerResources" | "updatePodSandboxResources" | "containerStats">;
  /** The pods' own cgroups; undefined where they have none. */
  readonly cgroups: PodCgroupSizes | undefined;
  /** The facts by which a container, or a pod as a whole, is sized. */
  factsOf(podUid: string, container?: string): SizingFacts;
  readonly actuated: ResourceRecords;
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: Metrics;
}

/** Milliseconds; upstream's. */
const DURATION_BUCKETS = [
  10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];

interface PodCgroupSizes {
  sizes(pod: Pod): Promise<{ readonly now: CgroupUsage | undefined; readonly wanted: CgroupLimits }>;
  limit(pod: Pod, limits: CgroupLimits): Promise<void>;
}

type Resource = "cpu" | "memory";

/**
 * Memory comes before CPU. Of each, the pod's cgroup grows before its containers and shrinks after them, and containers that
 * give something back come first (upstream: `doPodResizeAction`, kuberuntime_manager.go).
 */
export function createPodResizer(deps: PodResizerDeps): PodResizer {
  const { runtime, cgroups, actuated, clock } = deps;
  const durations = deps.metrics.histogram(
    "kubelet_pod_resize_duration_milliseconds",
    "Duration in milliseconds to actuate a pod resize",
    { labels: ["success"], buckets: DURATION_BUCKETS },
  );

  const actuate = async (run: ResizeRun, signal: AbortSignal): Promise<void> => {
    const { pod, sandboxId, resize } = run;
    const sizes = (await cgroups?.sizes(pod)) ?? { now: undefined, wanted: {} };
    await checkMemory(deps, { ...run, ...sizes }, signal);
    if (sandboxId !== undefined) await tellSandbox(deps, pod, sandboxId, signal);
    for (const resource of ["memory", "cpu"] as const) {
      const { before, after } = planPodLimits(resource, sizes);
      for (const limits of before) await cgroups?.limit(pod, limits);
      const due = resize.containers.filter((each) => changes(each, resource)).sort(byGrowth(resource));
      for (const each of due) await update(pod, each, resource, signal);
      for (const limits of after) await cgroups?.limit(pod, limits);
    }
    recordPod(pod);
  };

  const update = async (pod: Pod, { id, container }: ContainerResize, resource: Resource, signal: AbortSignal) => {
    const uid = podUid(pod);
    const info = actuated.get(uid);
    const had = (info && resourcesIn(info, container.name)) ?? {};
    const resources = withResource(had, container.resources ?? {}, resource);
    const staged = resource === "memory" ? withMemoryOnly(pod, info) : pod;
    const linux = computeContainerResources(staged, { ...container, resources }, deps.factsOf(uid, container.name));
    const request = cri.UpdateContainerResourcesRequest.fromPartial({ containerId: id, linux });
    await runtime.updateContainerResources(request, { signal });
    actuated.setContainer(uid, container.name, resources);
  };

  const recordPod = (pod: Pod): void => {
    const uid = podUid(pod);
    const info = actuated.get(uid);
    const ofPod = pod.spec?.resources;
    if (info !== undefined && ofPod !== undefined) actuated.set(uid, { ...info, pod: ofPod });
  };

  return {
    actuatedOf: (uid) => actuated.get(uid),
    starts(pod, { name, resources = {} }) {
      const isFirst = actuated.get(podUid(pod)) === undefined;
      actuated.setContainer(podUid(pod), name, resources);
      if (isFirst) recordPod(pod);
    },
    async resize(run, signal) {
      const startedAt = clock.monotonic();
      let isDone = false;
      try {
        await actuate(run, signal);
        isDone = true;
        return undefined;
      } catch (error) {
        if (isAbort(error)) throw error;
        return messageOf(error);
      } finally {
        durations.observe(clock.monotonic() - startedAt, { success: `${isDone}` });
      }
    },
    forget: (uid) => actuated.forget(uid),
  };
}

/** Tells the runtime the size of the sandbox. Runtimes that do not know of it (containerd before 2.2) need not. */
async function tellSandbox(
  { runtime, factsOf }: PodResizerDeps,
  pod: Pod,
  podSandboxId: string,
  signal: AbortSignal,
): Promise<void> {
  const facts = factsOf(podUid(pod));
  const [overhead, resources] = [computeOverheadResources(pod, facts), computeSandboxResources(pod, facts)];
  const request = cri.UpdatePodSandboxResourcesRequest.fromPartial({ podSandboxId, overhead, resources });
  try {
    await runtime.updatePodSandboxResources(request, { signal });
  } catch (error) {
    if (!isCriError(error, "unimplemented")) throw error;
  }
}

/**
 * The pod with the memory that it was granted as a whole, and the CPU that it has still: a container without a limit of its
 * own is bounded by that of its pod, whose cgroup gets it only afterwards.
 */
function withMemoryOnly(pod: Pod, info: PodResourceInfo | undefined): Pod {
  const { spec } = pod;
  if (spec?.resources === undefined || info?.pod === undefined) return pod;
  return { ...pod, spec: { ...spec, resources: withResource(info.pod, spec.resources, "memory") } };
}

/** The resources with one of them taken from the others. */
function withResource(
  had: ResourceRequirements,
  wanted: ResourceRequirements,
  resource: Resource,
): ResourceRequirements {
  const take = (from: Record<string, string> = {}, to: Record<string, string> = {}): Record<string, string> => {
    const { [resource]: _old, ...rest } = from;
    const value = to[resource];
    return value === undefined ? rest : { ...rest, [resource]: value };
  };
  return { requests: take(had.requests, wanted.requests), limits: take(had.limits, wanted.limits) };
}

interface MemoryCheck extends ResizeRun {
  readonly now: CgroupUsage | undefined;
  readonly wanted: CgroupLimits;
}

/**
 * Rejects, in upstream's words, where a limit of memory would fall below what is used: the kernel would kill for it
 * (`validateMemoryResizeAction`, kuberuntime_manager.go).
 */
async function checkMemory({ runtime }: PodResizerDeps, check: MemoryCheck, signal: AbortSignal): Promise<void> {
  const { resize, now, wanted } = check;
  const problems: string[] = [];
  const limit = wanted.memoryBytes;
  const used = now?.memory;
  if (limit !== undefined && used !== undefined && (used.limit === undefined || limit < BigInt(used.limit))) {
    if (BigInt(used.usage) >= limit) {
      problems.push(`attempting to set pod memory limit (${limit}) below current usage (${used.usage})`);
    }
  }
  const shrinking = resize.containers.filter(
    ({ from, to }) => to.memoryLimit !== 0n && (from.memoryLimit === 0n || to.memoryLimit < from.memoryLimit),
  );
  for (const { id, container, to } of shrinking) {
    const request = cri.ContainerStatsRequest.fromPartial({ containerId: id });
    const usage = (await runtime.containerStats(request, { signal })).stats?.memory?.usageBytes?.value;
    if (usage === undefined) problems.push(`missing container "${container.name}" memory usage`);
    else if (usage >= to.memoryLimit) {
      const limits = `memory limit (${to.memoryLimit}) below current usage (${usage})`;
      problems.push(`attempting to set container "${container.name}" ${limits}`);
    }
  }
  if (problems.length === 0) return;
  const all = problems.length === 1 ? problems.join("") : `[${problems.join(", ")}]`;
  throw new MemoryInUseError(`cannot decrease memory limits: ${all}`);
}

/** A limit of memory is not set, because more is in use. */
class MemoryInUseError extends Error {
  override readonly name = "MemoryInUseError";
}
