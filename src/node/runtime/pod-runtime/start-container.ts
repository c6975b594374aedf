import type { Container, Pod } from "../../../api/gen/types.ts";
import { isHostNetworkPod, podReference } from "../../../api/pods.ts";
import { delayedSignal, throwIfAborted } from "../../../base/abort.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { type Cri, isCriError } from "../../../cri/port.ts";
import { explainOldRuntime, type RuntimeVersion } from "../../../cri/runtime-release.ts";
import type { Host } from "../../../host/port.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import type { EnvironmentVariable } from "../config/environment.ts";
import type { PresentImage } from "../images/image-outcome.ts";
import {
  containerLogName,
  legacyLogLink,
  podLogDirectory,
  podLogDirectoryName,
  readRestartCountFromLogs,
} from "../logs/container-log-paths.ts";
import type { ContainerToStart } from "../plan/pod-actions.ts";
import { findContainer, type PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { requirePathName } from "../reading/runtime-answers.ts";
import type { PodConfigs } from "./create-pod-configs.ts";
import { ensureVolumeImages } from "./ensure-volume-images.ts";
import { runLifecycleHook } from "./lifecycle-hooks.ts";
import type { RuntimeMetrics } from "./metrics.ts";
import type { PodFiles } from "./pod-files.ts";
import type { StartFailure } from "./start-failure.ts";
import type { RuntimeHandlerDeps, StartedSandbox } from "./start-sandbox.ts";
import { type StopDeps, stopContainer } from "./stop-pod.ts";

export interface ContainerStarter {
  /**
   * Pulls the image, creates and starts the container, and runs its postStart hook. Failures are returned; only an abort
   * rejects.
   */
  start(run: ContainerRun, signal: AbortSignal): Promise<StartFailure | undefined>;
}

interface ContainerRun {
  pod: Pod;
  sandbox: { id: string; config: StartedSandbox["config"]; ips: readonly string[] };
  next: ContainerToStart;
  /** What the runtime held of the pod before this sync. */
  status: PodRuntimeStatus;
  /** The pod's volumes by name, ready for use. */
  volumes: ReadonlyMap<string, ReadyVolume>;
  /** Told the container's ID as soon as there is one. */
  onCreated?: (id: string) => void;
}

/** What is known of the runtime's abilities with volumes. */
export interface RuntimeVolumeDeps {
  /** The runtime as it answers Version; one that is not known is taken to mount images. */
  runtimeVersion(): RuntimeVersion;
  /** Whether the runtime says that this handler ("" is its default) can make read-only what is mounted beneath a mount. */
  supportsRecursiveReadOnly(handler: string): boolean;
}

interface ContainerStarterDeps
  extends RuntimeVolumeDeps,
    Pick<RuntimeHandlerDeps, "runtimeHandlerOf">,
    Pick<StopDeps, "endProbes"> {
  runtime: Cri["runtime"];
  host: Host;
  timeline: Timeline;
  metrics: RuntimeMetrics;
  configs: PodConfigs;
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<PresentImage | StartFailure>;
  podFiles: Pick<PodFiles, "makeMounts">;
  hostIps(): readonly string[];
  podLogsDirectory: string;
  containerLogsDirectory: string;
}

/** Upstream sets no time limit for postStart hooks. This one only keeps an endless hook from blocking its pod for ever. */
const POST_START_TIMEOUT_MS = 10 * 60_000;
/**
 * How long a start that is under way goes on when the pod is not wanted any more. A runtime that is interrupted there
 * tells of a container that could not start, which is then the last that is heard of the pod.
 */
const START_BREAK_OFF_MS = 5_000;

export function createContainerStarter(deps: ContainerStarterDeps): ContainerStarter {
  const { runtime, host, timeline, metrics } = deps;

  /** Creates the container. The first step that fails ends it, and says why. */
  const create = async (run: ContainerRun, signal: AbortSignal): Promise<{ id: string } | StartFailure> => {
    const { pod, next, sandbox, volumes } = run;
    const images = await ensureVolumeImages(deps, run, signal);
    if ("reason" in images) return images;
    const image = await deps.ensureImage(pod, next.container, signal);
    if ("reason" in image) return image;
    const podIps = isHostNetworkPod(pod) ? deps.hostIps() : sandbox.ips;
    const target = findTarget(run);
    if ("reason" in target) return target;
    const supportsRecursiveReadOnly = await findRecursiveReadOnly(deps, run, signal);
    const makeMounts = async (environment: readonly EnvironmentVariable[]) => {
      const input = { pod, next, podIps, volumes, environment, images: images.found, supportsRecursiveReadOnly };
      const [made] = await Promise.all([
        deps.podFiles.makeMounts(input),
        // Upstream makes the directory too: containerd would make it itself, but other runtimes expect it to exist.
        host.files.makeDirectoryBeneath(deps.podLogsDirectory, containerLogDirectoryName(run), 0o755),
      ]);
      return made;
    };
    const { imageRef, user: imageUser } = image;
    const input = { pod, next, imageRef, imageUser, podIps, targetContainerId: target.id, volumes, makeMounts };
    const made = await deps.configs.container(input, signal);
    if ("reason" in made) return made;
    for (const warning of made.warnings) timeline.record(podReference(pod), { type: "Warning", ...warning });
    const ignored = explainIgnoredDevices(deps.runtimeVersion(), made.config.CDIDevices);
    if (ignored !== undefined) say(run, "Warning", "IgnoredDevices", ignored);
    const request = cri.CreateContainerRequest.fromPartial({
      podSandboxId: sandbox.id,
      config: made.config,
      sandboxConfig: sandbox.config,
    });
    const createContainer = async () => await runtime.createContainer(request, { signal });
    const begun = host.clock.monotonic();
    const answer = await countImageMounts(deps, { next, images: images.found }, createContainer);
    const containerId = requirePathName("a container", answer.containerId);
    run.onCreated?.(containerId);
    sayDone(run, "Created", "Container created", begun);
    return { id: containerId };
  };

  const launch = async (run: ContainerRun, id: string, signal: AbortSignal): Promise<StartFailure | undefined> => {
    throwIfAborted(signal);
    // The link is made while the container starts. It is removed with the container, even if that does not start.
    const linked = linkLog(deps, run, id);
    const begun = host.clock.monotonic();
    const patient = delayedSignal(signal, host.clock, START_BREAK_OFF_MS);
    try {
      const request = cri.StartContainerRequest.fromPartial({ containerId: id });
      await runtime.startContainer(request, { signal: patient.signal });
    } finally {
      patient.release();
      await linked;
    }
    sayDone(run, "Started", "Container started", begun);
    throwIfAborted(signal);
    return await postStart(run, id, signal);
  };

  const postStart = async (run: ContainerRun, id: string, signal: AbortSignal): Promise<StartFailure | undefined> => {
    const { container } = run.next;
    const handler = container.lifecycle?.postStart;
    if (handler === undefined) return undefined;
    const target = { containerId: id, container, podIp: run.sandbox.ips[0] };
    const onHttpFallback = (message: string) => say(run, "Warning", "LifecycleHTTPFallback", message);
    const hook = { ...deps, onHttpFallback };
    const begun = host.clock.monotonic();
    const problem = await runLifecycleHook(hook, handler, target, { timeoutMs: POST_START_TIMEOUT_MS, signal });
    if (problem === undefined) {
      sayDone(run, "PostStartHookDone", "PostStartHook is done", begun);
      return undefined;
    }
    const message = `PostStartHook failed: ${problem}`;
    say(run, "Warning", "FailedPostStartHook", message);
    const { pod, status, sandbox } = run;
    const started = { id, name: container.name, state: "running" as const };
    const stop = {
      pod,
      status: { ...status, ips: [...sandbox.ips] },
      container: started,
      message: "FailedPostStartHook",
    };
    await stopContainer(deps, stop, { gracePeriodSeconds: undefined, signal });
    return { reason: "PostStartHookError", message, retryAt: host.clock.now() };
  };

  const startSteps = async (asked: ContainerRun, signal: AbortSignal): Promise<StartFailure | undefined> => {
    let reason: "CreateContainerError" | "RunContainerError" = "CreateContainerError";
    try {
      const run = await settleRestartCount(deps, asked);
      const created = await create(run, signal);
      if ("reason" in created) return created;
      reason = "RunContainerError";
      return await launch(run, created.id, signal);
    } catch (error) {
      return failure(error, reason, signal);
    }
  };

  const say = ({ pod, next }: ContainerRun, type: "Normal" | "Warning", reason: string, message: string) =>
    timeline.record(podReference(pod), { type, reason, message, container: next.container.name });
  /** Records a step that began at `begun` of the clock that does not jump. */
  const sayDone = ({ pod, next }: ContainerRun, reason: string, message: string, begun: number) => {
    const tookMs = Math.trunc(host.clock.monotonic() - begun);
    timeline.record(podReference(pod), { type: "Normal", reason, message, container: next.container.name, tookMs });
  };

  return {
    async start(asked, signal) {
      const container_type = typeLabel(asked.next.kind);
      metrics.startedContainers.add({ container_type });
      const failed = await startSteps(asked, signal);
      if (failed === undefined) return undefined;
      metrics.startedContainerErrors.add({ container_type, code: failed.reason });
      if (failed.reason !== "PostStartHookError") say(asked, "Warning", "Failed", `Error: ${wordsOf(failed)}`);
      return failed;
    },
  };
}

/** An older runtime starts the container without these devices. It may have got the same by other fields, and goes on. */
function explainIgnoredDevices(
  runtime: RuntimeVersion,
  devices: ReadonlyArray<{ readonly name: string }>,
): string | undefined {
  if (devices.length === 0) return undefined;
  const problem = explainOldRuntime(runtime, "devices by CDI", { containerd: [1, 7] });
  return problem && `The container lacks ${devices.map(({ name }) => name).join(", ")}: ${problem}`;
}

function failure(error: unknown, reason: StartFailure["reason"], signal: AbortSignal): StartFailure {
  signal.throwIfAborted();
  return { reason, message: messageOf(error) };
}

const IMAGE_REASONS: ReadonlySet<StartFailure["reason"]> = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
]);

/**
 * The message of the Failed event. The missing image has had its own event already, so that only the reason is named,
 * as upstream.
 */
function wordsOf({ reason, message }: StartFailure): string {
  return IMAGE_REASONS.has(reason) ? reason : message;
}

/** Finds the container whose processes an ephemeral container targets; a missing one is a CreateContainerConfigError. */
function findTarget({ pod, next, status }: ContainerRun): { id: string | undefined } | StartFailure {
  const spec = pod.spec?.ephemeralContainers?.find(({ name }) => name === next.container.name);
  const name = next.kind === "ephemeral" ? spec?.targetContainerName : undefined;
  if (!name) return { id: undefined };
  const id = findContainer(status, name)?.id;
  if (id !== undefined) return { id };
  return { reason: "CreateContainerConfigError", message: `unable to find target container ${name}` };
}

/**
 * Whether the pod's handler supports recursive read-only mounts. It is looked up only where a mount asks for it; a
 * failure means no.
 */
async function findRecursiveReadOnly(
  { runtimeHandlerOf, supportsRecursiveReadOnly }: ContainerStarterDeps,
  { pod, next }: ContainerRun,
  signal: AbortSignal,
): Promise<boolean> {
  const isWanted = next.container.volumeMounts?.some(({ recursiveReadOnly: mode = "Disabled" }) => mode !== "Disabled");
  if (!isWanted) return false;
  try {
    return supportsRecursiveReadOnly((await runtimeHandlerOf?.(pod, signal)) ?? "");
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** Counts mounts of images, as upstream's `incrementImageVolumeMetrics`. */
async function countImageMounts<T>(
  { metrics }: Pick<ContainerStarterDeps, "metrics">,
  { next, images }: { next: ContainerToStart; images: ReadonlyMap<string, cri.ImageSpec> },
  create: () => Promise<T>,
): Promise<T> {
  const mounts = next.container.volumeMounts?.filter(({ name }) => images.has(name)).length ?? 0;
  metrics.requestedImageVolumes.add(undefined, images.size);
  try {
    const created = await create();
    metrics.mountedImageVolumes.add(undefined, mounts);
    return created;
  } catch (error) {
    const isMountFailure = isCriError(error) && error.reason === "ImageVolumeMountFailed";
    if (isMountFailure) metrics.imageVolumeErrors.add(undefined, mounts);
    throw error;
  }
}

/** Corrects the restart count by the logs on disk, which outlive the runtime's memory and must not be overwritten. */
async function settleRestartCount(deps: ContainerStarterDeps, run: ContainerRun): Promise<ContainerRun> {
  const { next } = run;
  if (next.restartCount > 0) return run;
  const restartCount = await readRestartCountFromLogs(deps.host.files, containerLogDirectory(deps, run));
  return { ...run, next: { ...next, restartCount } };
}

function containerLogDirectory(deps: ContainerStarterDeps, run: ContainerRun): string {
  return `${deps.podLogsDirectory}/${containerLogDirectoryName(run)}`;
}

/** The directory among the logs of all pods. What is made there is made without following a link of a pod's. */
function containerLogDirectoryName({ pod, next }: ContainerRun): string {
  return `${podLogDirectoryName(podReference(pod))}/${next.container.name}`;
}

async function linkLog(deps: ContainerStarterDeps, { pod, next }: ContainerRun, id: string): Promise<void> {
  const { name } = next.container;
  const link = legacyLogLink(deps.containerLogsDirectory, podReference(pod), { name, id });
  const directory = podLogDirectory(deps.podLogsDirectory, podReference(pod));
  const { files } = deps.host;
  const makeLink = async () => await files.link(`${directory}/${containerLogName(name, next.restartCount)}`, link);
  try {
    await makeLink().catch(async (error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
      await files.makeDirectory(deps.containerLogsDirectory, 0o755);
      await makeLink();
    });
  } catch {
    // The link is a convenience for log shippers; the container runs without it.
  }
}

function typeLabel(kind: ContainerToStart["kind"]): string {
  if (kind === "main") return "container";
  return kind === "init" ? "init_container" : "ephemeral_container";
}
