import { decodeObject } from "../../../api/decode.ts";
import type { ContainerUser, LifecycleHandler } from "../../../api/gen/types.ts";
import type { PodReference } from "../../../api/pods.ts";
import { isIpAddress } from "../../../api/validation/names.ts";
import {
  CONTAINER_HASH_ANNOTATION,
  CONTAINER_NAME_LABEL,
  CONTAINER_PRESTOP_HANDLER_ANNOTATION,
  CONTAINER_RESTART_COUNT_ANNOTATION,
  POD_DELETION_GRACE_PERIOD_ANNOTATION,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_TERMINATION_GRACE_PERIOD_ANNOTATION,
  POD_UID_LABEL,
} from "../../../api/well-known.ts";
import { codeOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import { isPathName } from "../../../base/path-name.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Host } from "../../../host/port.ts";
import { type ImageMountDeps, readImageMounts } from "./image-mounts.ts";
import type {
  ActualResources,
  ContainerRuntimeStatus,
  ContainerState,
  PodItems,
  PodRuntimeStatus,
  RecordedStop,
  RuntimePod,
  SandboxRuntimeStatus,
  SandboxState,
} from "./pod-runtime-status.ts";
import { cutText, limitCount, ownItems, requireId } from "./runtime-answers.ts";
import { readTerminationMessage } from "./termination-message.ts";

type Labels = { [key: string]: string };

/** The number of status calls that one reading has under way. The lists may show any number of containers. */
const MAX_STATUS_CALLS = 16;
/** The kernel's limit for the supplementary groups of a process. */
const MAX_GROUPS = 65_536;
/** A pod has one address of each family; a few more of one family do no harm. */
const MAX_ADDRESSES = 16;

/**
 * Lists every pod that the runtime holds, whichever program made it, with two list calls. Sandboxes and containers
 * without pod labels are not Kubernetes' and are left out.
 */
export async function listRuntimePods(runtime: Cri["runtime"], signal: AbortSignal): Promise<RuntimePod[]> {
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandbox(cri.ListPodSandboxRequest.fromPartial({}), { signal }),
    runtime.listContainers(cri.ListContainersRequest.fromPartial({}), { signal }),
  ]);
  const pods = new Map<string, RuntimePod>();
  const podOf = (labels: Labels): RuntimePod | undefined => {
    const reference = referenceOf(labels);
    if (reference === undefined) return undefined;
    const pod = pods.get(reference.uid) ?? { ...reference, sandboxes: [], containers: [] };
    pods.set(reference.uid, pod);
    return pod;
  };
  for (const sandbox of sandboxes.items) {
    const { id, createdAt } = sandbox;
    if (!isPathName(id)) continue;
    podOf(sandbox.labels)?.sandboxes.push({
      id,
      attempt: limitCount(sandbox.metadata?.attempt),
      state: sandboxState(sandbox.state),
      createdAt: milliseconds(createdAt),
    });
  }
  for (const container of containers.containers) {
    if (!isPathName(container.id)) continue;
    podOf(container.labels)?.containers.push({
      id: container.id,
      sandboxId: container.podSandboxId,
      name: nameOf(container),
      attempt: limitCount(container.metadata?.attempt),
      state: containerState(container.state),
      createdAt: milliseconds(container.createdAt),
    });
  }
  return [...pods.values()];
}

interface ReadingDeps {
  readonly runtime: Cri["runtime"];
  readonly host: Host;
  /** Tells which images containers have as volumes. Default: that is not read. */
  readonly imageMounts?: ImageMountDeps | undefined;
}

/**
 * Reads everything that the runtime knows of one pod. What disappears between the list and its status counts as never
 * listed. Nothing that is of another pod is taken in, whatever the runtime's lists show. Rejects with a CodedError
 * `contradiction` where a status is not about what was asked for.
 */
export async function readPodRuntimeStatus(
  deps: ReadingDeps,
  pod: PodReference,
  signal: AbortSignal,
): Promise<PodRuntimeStatus> {
  const { runtime, host } = deps;
  const observedAt = host.clock.now();
  const labelSelector = { [POD_UID_LABEL]: pod.uid };
  const [listedSandboxes, listedContainers] = await Promise.all([
    runtime.listPodSandbox(cri.ListPodSandboxRequest.fromPartial({ filter: { labelSelector } }), { signal }),
    runtime.listContainers(cri.ListContainersRequest.fromPartial({ filter: { labelSelector } }), { signal }),
  ]);
  const sandboxes = ownItems(pod, listedSandboxes.items).map(({ id }) => ({ id }));
  const containers = ownItems(pod, listedContainers.containers).map(({ id, podSandboxId: sandboxId }) => ({
    id,
    sandboxId,
  }));
  return await readItems(deps, { pod, items: { sandboxes, containers }, observedAt }, signal);
}

/**
 * Reads the pod without asking the lists what there is of it: half the calls, in one wave instead of two. What others
 * made in the pod is not seen, and a sandbox whose status is known is not asked. What disappeared counts as never known, as above.
 */
export async function readPodItems(
  deps: ReadingDeps,
  { pod, items }: { pod: PodReference; items: PodItems },
  signal: AbortSignal,
): Promise<PodRuntimeStatus> {
  return await readItems(deps, { pod, items, observedAt: deps.host.clock.now() }, signal);
}

async function readItems(
  { runtime, host, imageMounts }: ReadingDeps,
  { pod, items, observedAt }: { pod: PodReference; items: PodItems; observedAt: number },
  signal: AbortSignal,
): Promise<PodRuntimeStatus> {
  const calls = createLimiter(MAX_STATUS_CALLS);
  const [sandboxes, containers] = await Promise.all([
    readEach(items.sandboxes, async ({ id, status }) => {
      return status ?? (await calls.run(async () => await readSandboxStatus(runtime, id, signal), signal));
    }),
    readEach(items.containers, async ({ id, sandboxId }) => {
      const request = cri.ContainerStatusRequest.fromPartial({ containerId: id });
      const { status } = await calls.run(async () => await runtime.containerStatus(request, { signal }), signal);
      if (status === undefined || !hasUsableName(status)) return undefined;
      const known = await containerStatus(host, requireId("container", id, status), sandboxId);
      return imageMounts ? { ...known, imageMounts: await readImageMounts(imageMounts, status, signal) } : known;
    }),
  ]);
  // Attempts only rise while anything is left. Times do not, because the clock may be set back; code that took a dead
  // sandbox for the newest by its time would make one sandbox after the other.
  sandboxes.sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
  containers.sort((a, b) => b.restartCount - a.restartCount || b.createdAt - a.createdAt);
  const ips = sandboxes.find((sandbox) => sandbox.state === "ready")?.ips ?? [];
  return { ...pod, sandboxes, containers, ips, observedAt };
}

/** Reads one sandbox; undefined where the runtime tells nothing of it. Rejects with `not-found` for one that is gone. */
export async function readSandboxStatus(
  runtime: Pick<Cri["runtime"], "podSandboxStatus">,
  id: string,
  signal: AbortSignal,
): Promise<SandboxRuntimeStatus | undefined> {
  const request = cri.PodSandboxStatusRequest.fromPartial({ podSandboxId: id });
  const { status } = await runtime.podSandboxStatus(request, { signal });
  return status && sandboxStatus(requireId("sandbox", id, status));
}

async function readEach<Item, Status>(
  items: readonly Item[],
  read: (item: Item) => Promise<Status | undefined>,
): Promise<Status[]> {
  const statuses = await Promise.all(
    items.map(async (item) => {
      try {
        return await read(item);
      } catch (error) {
        if (codeOf(error) === "not-found") return undefined;
        throw error;
      }
    }),
  );
  return statuses.filter((status) => status !== undefined);
}

function referenceOf(labels: Labels): PodReference | undefined {
  const uid = labels[POD_UID_LABEL];
  const name = labels[POD_NAME_LABEL];
  const namespace = labels[POD_NAMESPACE_LABEL];
  // Directories are named after these values, and removed. A sandbox whose values cannot be names is not a pod of
  // Kubernetes.
  return isPathName(uid) && isPathName(name) && isPathName(namespace) ? { uid, name, namespace } : undefined;
}

/** Directories and links are named after a container, and removed. */
function hasUsableName(status: cri.ContainerStatus): boolean {
  const name = nameOf(status);
  return name === "" || isPathName(name);
}

const nameOf = ({ labels, metadata }: Pick<cri.ContainerStatus, "labels" | "metadata">) =>
  labels[CONTAINER_NAME_LABEL] ?? metadata?.name ?? "";

function sandboxStatus(status: cri.PodSandboxStatus): SandboxRuntimeStatus {
  const { network, linux } = status;
  const addresses = [network?.ip ?? "", ...(network?.additionalIps ?? []).map(({ ip }) => ip)];
  return {
    id: status.id,
    attempt: limitCount(status.metadata?.attempt),
    state: sandboxState(status.state),
    createdAt: milliseconds(status.createdAt),
    hostNetwork: linux?.namespaces?.options?.network === cri.NamespaceMode.NODE,
    ips: addresses.filter(isIpAddress).slice(0, MAX_ADDRESSES),
    runtimeHandler: status.runtimeHandler,
  };
}

async function containerStatus(
  host: Host,
  status: cri.ContainerStatus,
  sandboxId: string,
): Promise<ContainerRuntimeStatus> {
  const { annotations } = status;
  const state = containerState(status.state);
  const recorded = Number.parseInt(annotations[CONTAINER_RESTART_COUNT_ANNOTATION] ?? "", 10);
  return {
    id: status.id,
    sandboxId,
    name: nameOf(status),
    state,
    createdAt: milliseconds(status.createdAt),
    startedAt: milliseconds(status.startedAt),
    finishedAt: milliseconds(status.finishedAt),
    exitCode: status.exitCode,
    hash: annotations[CONTAINER_HASH_ANNOTATION] ?? "",
    restartCount: limitCount(Number.isNaN(recorded) ? status.metadata?.attempt : recorded),
    image: status.image?.userSpecifiedImage || status.image?.image || "",
    imageId: status.imageRef,
    reason: cutText(status.reason),
    message: cutText(state === "exited" ? await readTerminationMessage(host.files, status) : status.message),
    logPath: status.logPath,
    ...(status.user && { user: containerUser(status.user) }),
    ...(status.resources?.linux && { resources: actualResources(status.resources.linux) }),
    recordedStop: recordedStop(annotations),
  };
}

/** Runtimes tell shares and quotas; the request that shares come from is rounded up, as upstream does. */
function actualResources(linux: cri.LinuxContainerResources): ActualResources {
  const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } = linux;
  return {
    ...(cpuShares > 0n && { milliCpuRequest: cpuShares < 2n ? 0n : (cpuShares * 1_000n + 1_023n) / 1_024n }),
    ...(cpuQuota > 0n && cpuPeriod > 0n && { milliCpuLimit: (cpuQuota * 1_000n) / cpuPeriod }),
    ...(memoryLimitInBytes > 0n && { memoryLimitBytes: memoryLimitInBytes }),
  };
}

function containerUser({ linux }: cri.ContainerUser): ContainerUser {
  if (linux === undefined) return {};
  const { uid, gid, supplementalGroups } = linux;
  const groups = supplementalGroups.slice(0, MAX_GROUPS).map(Number);
  return { linux: { uid: Number(uid), gid: Number(gid), ...(groups.length > 0 && { supplementalGroups: groups }) } };
}

/** Reads what was written on the container when it was made; unreadable annotations count as none. */
function recordedStop(annotations: Labels): RecordedStop {
  const grace =
    annotations[POD_DELETION_GRACE_PERIOD_ANNOTATION] ?? annotations[POD_TERMINATION_GRACE_PERIOD_ANNOTATION];
  const seconds = Number.parseInt(grace ?? "", 10);
  return {
    gracePeriodSeconds: Number.isNaN(seconds) ? undefined : seconds,
    preStop: parseHandler(annotations[CONTAINER_PRESTOP_HANDLER_ANNOTATION]),
  };
}

function parseHandler(json: string | undefined): LifecycleHandler | undefined {
  if (json === undefined) return undefined;
  try {
    const { value, errors } = decodeObject("LifecycleHandler", JSON.parse(json));
    return errors.length === 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

function sandboxState(state: cri.PodSandboxState): SandboxState {
  return state === cri.PodSandboxState.SANDBOX_READY ? "ready" : "notready";
}

function containerState(state: cri.ContainerState): ContainerState {
  switch (state) {
    case cri.ContainerState.CONTAINER_CREATED:
      return "created";
    case cri.ContainerState.CONTAINER_RUNNING:
      return "running";
    case cri.ContainerState.CONTAINER_EXITED:
      return "exited";
    default:
      return "unknown";
  }
}

/** The runtime counts nanoseconds since the epoch; 0 or less means that it has no such time. */
function milliseconds(nanoseconds: bigint): number {
  return nanoseconds > 0n ? Number(nanoseconds / 1_000_000n) : 0;
}
