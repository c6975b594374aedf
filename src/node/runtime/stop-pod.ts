import type { Container, Pod } from "../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../api/pods.ts";
import { codeOf, throwJoined } from "../../base/errors.ts";
import type { Timeline } from "../../base/timeline.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import type { Host } from "../../host/port.ts";
import { runLifecycleHook } from "./lifecycle-hooks.ts";
import type { ContainerRuntimeStatus, PodRuntimeStatus } from "./pod-runtime-status.ts";

export interface StopDeps {
  runtime: Cri["runtime"];
  host: Host;
  timeline: Timeline;
}

export interface StopOptions {
  /** Seconds that this stop allows at most; undefined: what the pod, or the container's annotations, allow. */
  gracePeriodSeconds: number | undefined;
  signal: AbortSignal;
}

/** After a preStop hook that took all the time there was, the container still gets this long, as upstream grants it. */
const MINIMUM_GRACE_PERIOD_SECONDS = 2;
/** How much longer than the grace period a runtime may take to answer before the call is given up. */
const STOP_SLACK_MS = 120_000;

/**
 * Stops every container of the pod and then its sandboxes: main and ephemeral containers at once, then the sidecars, one
 * after another, last started first. Whatever fails, the rest is stopped too; rejects with all that failed.
 */
export async function stopPod(
  deps: StopDeps,
  pod: Pod | undefined,
  status: PodRuntimeStatus,
  options: StopOptions,
): Promise<void> {
  const failures: unknown[] = [];
  const attempt = async (step: () => Promise<unknown>) => {
    try {
      await step();
    } catch (error) {
      options.signal.throwIfAborted();
      failures.push(error);
    }
  };
  const deadline = options.gracePeriodSeconds === undefined ? undefined : deadlineOf(deps, options.gracePeriodSeconds);
  const stop = async (container: ContainerRuntimeStatus, message?: string) =>
    await attempt(async () => {
      const gracePeriodSeconds = deadline?.remainingSeconds();
      await stopContainer(deps, { pod, status, container, message }, { ...options, gracePeriodSeconds });
    });
  const { sidecars, others } = partition(pod, status.containers.filter(mayRun));
  await Promise.all(others.map(async (container) => await stop(container)));
  for (const sidecar of sidecars) await stop(sidecar);
  await Promise.all(
    status.sandboxes
      .filter((sandbox) => sandbox.state === "ready")
      .map(async (sandbox) => await attempt(async () => await stopSandbox(deps.runtime, sandbox.id, options.signal))),
  );
  throwJoined(failures, "stopping the pod");
}

/** Stops the network and the processes of a sandbox; one that is gone is stopped. */
export async function stopSandbox(runtime: Cri["runtime"], podSandboxId: string, signal: AbortSignal): Promise<void> {
  try {
    await runtime.stopPodSandbox(cri.StopPodSandboxRequest.fromPartial({ podSandboxId }), { signal });
  } catch (error) {
    if (codeOf(error) !== "not-found") throw error;
  }
}

interface ContainerStop {
  /** Undefined for an orphan. */
  pod: Pod | undefined;
  status: PodRuntimeStatus;
  container: ContainerRuntimeStatus;
  /** Of the Killing event; default `Stopping container <name>`. */
  message?: string | undefined;
}

/** Runs the preStop hook, then lets the runtime stop the container within what is left of the grace period. */
export async function stopContainer(deps: StopDeps, stop: ContainerStop, options: StopOptions): Promise<void> {
  const { pod, status, container } = stop;
  const spec = findSpec(pod, container.name);
  const granted =
    options.gracePeriodSeconds ??
    pod?.metadata?.deletionGracePeriodSeconds ??
    pod?.spec?.terminationGracePeriodSeconds ??
    30;
  const recorded = pod === undefined ? container.recordedStop?.gracePeriodSeconds : undefined;
  const seconds = Math.min(granted, recorded ?? granted);
  const message = stop.message ?? `Stopping container ${container.name}`;
  deps.timeline.record(status, { type: "Normal", reason: "Killing", message, container: container.name });

  const deadline = deadlineOf(deps, seconds);
  const preStop = spec?.lifecycle?.preStop ?? container.recordedStop?.preStop;
  if (preStop !== undefined && container.state === "running" && seconds > 0) {
    const target = { containerId: container.id, container: spec ?? { name: container.name }, podIp: status.ips[0] };
    const hookOptions = { timeoutMs: seconds * 1000, signal: options.signal };
    const failure = await runLifecycleHook(deps, preStop, target, hookOptions);
    if (failure !== undefined) {
      deps.timeline.record(status, {
        type: "Warning",
        reason: "FailedPreStopHook",
        message: `PreStopHook failed: ${failure}`,
        container: container.name,
      });
    }
  }
  const left = Math.max(preStop === undefined ? 0 : MINIMUM_GRACE_PERIOD_SECONDS, deadline.remainingSeconds());
  try {
    await deps.runtime.stopContainer(
      cri.StopContainerRequest.fromPartial({ containerId: container.id, timeout: BigInt(left) }),
      { timeoutMs: left * 1000 + STOP_SLACK_MS, signal: options.signal },
    );
  } catch (error) {
    if (codeOf(error) !== "not-found") throw error;
  }
}

/** Neither exited nor never started; one in an unknown state might run. */
function mayRun(container: ContainerRuntimeStatus): boolean {
  return container.state === "running" || container.state === "unknown";
}

/** Sidecars in the order in which they are to stop: the reverse of the pod's. */
function partition(pod: Pod | undefined, containers: readonly ContainerRuntimeStatus[]) {
  const order = (pod?.spec?.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name);
  const sidecars = containers
    .filter(({ name }) => order.includes(name))
    .toSorted((a, b) => order.indexOf(b.name) - order.indexOf(a.name));
  return { sidecars, others: containers.filter(({ name }) => !order.includes(name)) };
}

function findSpec(pod: Pod | undefined, name: string): Container | undefined {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === name);
}

/** The whole seconds that are left of a grace period which begins now. */
function deadlineOf(deps: StopDeps, gracePeriodSeconds: number): { remainingSeconds(): number } {
  const end = deps.host.clock.monotonic() + gracePeriodSeconds * 1000;
  return { remainingSeconds: () => Math.max(0, Math.round((end - deps.host.clock.monotonic()) / 1000)) };
}
