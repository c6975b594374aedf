import type { Container, Pod } from "../../api/gen/types.ts";
import { childController, sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { codeOf, throwJoined } from "../../base/errors.ts";
import type { Timeline } from "../../base/timeline.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import type { Cri } from "../../cri/port.ts";
import type { Host } from "../../host/port.ts";
import { runLifecycleHook } from "./lifecycle-hooks.ts";
import type { ContainerRuntimeStatus, PodRuntimeStatus } from "./pod-runtime-status.ts";
import { createStopOrder } from "./stop-order.ts";

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

/** A container gets at least this long between SIGTERM and SIGKILL, whatever is left of its grace period, as upstream. */
const MINIMUM_GRACE_PERIOD_SECONDS = 2;
/** For a pod of which nobody knows how long it may take. */
const DEFAULT_GRACE_PERIOD_SECONDS = 30;
/** How much longer than the grace period a runtime may take to answer before the call is given up. */
const STOP_SLACK_MS = 120_000;
/** How soon a failed call is made again. */
const STOP_RETRY_MS = 1_000;

/**
 * Stops every container of the pod and then its sandboxes. All begin at once, preStop hooks included; sidecars let the
 * others end first, for as long as the grace period lasts. Whatever fails, the rest is stopped too; rejects with all that
 * failed, when nothing is in flight any more.
 */
export async function stopPod(
  deps: StopDeps,
  pod: Pod | undefined,
  status: PodRuntimeStatus,
  options: StopOptions,
): Promise<void> {
  const containers = status.containers.filter(mayRun);
  const order = createStopOrder(
    pod,
    containers.map(({ name }) => name),
  );
  const stops = containers.map(async (container) => {
    try {
      await stopContainer(deps, { pod, status, container, turn: order.turnOf(container.name) }, options);
    } finally {
      order.leave(container.name);
    }
  });
  const stopped = await Promise.allSettled(stops);
  options.signal.throwIfAborted();
  const ready = status.sandboxes.filter(({ state }) => state === "ready");
  const down = await Promise.allSettled(
    ready.map(async ({ id }) => await stopSandbox(deps.runtime, id, options.signal)),
  );
  options.signal.throwIfAborted();
  throwJoined(
    [...stopped, ...down].flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
    "stopping the pod",
  );
}

/** Stops the network and the processes of a sandbox; one that is gone is stopped. */
async function stopSandbox(runtime: Cri["runtime"], podSandboxId: string, signal: AbortSignal): Promise<void> {
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
  container: Pick<ContainerRuntimeStatus, "id" | "name" | "state" | "recordedStop">;
  /** Of the Killing event; default `Stopping container <name>`. */
  message?: string | undefined;
  /** Resolves when it need not wait for other containers any longer; undefined when it need not at all. */
  turn?: Promise<void> | undefined;
}

/**
 * Runs the preStop hook, waits for the container's turn, and lets the runtime stop it within what is left of the grace
 * period. Time is counted in whole seconds that have passed, as upstream's `killContainer` does
 * (pkg/kubelet/kuberuntime/kuberuntime_container.go), so that the container never gets less than it would there.
 */
export async function stopContainer(deps: StopDeps, stop: ContainerStop, options: StopOptions): Promise<void> {
  const { container, turn } = stop;
  const { clock } = deps.host;
  const message = stop.message ?? `Stopping container ${container.name}`;
  deps.timeline.record(stop.status, { type: "Normal", reason: "Killing", message, container: container.name });

  let left = gracePeriodOf(stop, options);
  if (left > 0) left -= await secondsOf(clock, async () => await runPreStop(deps, stop, left, options.signal));
  if (left > 0 && turn !== undefined) {
    left -= await secondsOf(clock, async () => await waitAtMost(clock, turn, left * 1000, options.signal));
  }
  await askToStop(deps, container.id, {
    seconds: Math.max(MINIMUM_GRACE_PERIOD_SECONDS, left),
    signal: options.signal,
  });
}

/**
 * A call that fails is made again for as long as the container has, and only then given up: whoever comes next stops
 * the sandbox, which kills what runs in it without asking.
 */
async function askToStop(
  { runtime, host }: StopDeps,
  containerId: string,
  { seconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<void> {
  const end = host.clock.monotonic() + seconds * 1000;
  for (;;) {
    const left = Math.max(1, Math.ceil((end - host.clock.monotonic()) / 1000));
    const request = cri.StopContainerRequest.fromPartial({ containerId, timeout: BigInt(left) });
    try {
      await runtime.stopContainer(request, { timeoutMs: left * 1000 + STOP_SLACK_MS, signal });
      return;
    } catch (error) {
      if (codeOf(error) === "not-found") return;
      signal.throwIfAborted();
      if (host.clock.monotonic() >= end) throw error;
    }
    await sleep(host.clock, Math.min(STOP_RETRY_MS, end - host.clock.monotonic()), signal);
  }
}

/** In whole seconds. An orphan's container gets no longer than what was written on it when it was made. */
function gracePeriodOf({ pod, container }: ContainerStop, { gracePeriodSeconds }: StopOptions): number {
  const own = pod?.metadata?.deletionGracePeriodSeconds ?? pod?.spec?.terminationGracePeriodSeconds;
  const granted = gracePeriodSeconds ?? own ?? DEFAULT_GRACE_PERIOD_SECONDS;
  const recorded = pod === undefined ? container.recordedStop?.gracePeriodSeconds : undefined;
  return Math.min(granted, recorded ?? granted);
}

async function runPreStop(deps: StopDeps, stop: ContainerStop, seconds: number, signal: AbortSignal): Promise<void> {
  const { pod, status, container } = stop;
  const spec = findSpec(pod, container.name);
  const preStop = pod === undefined ? container.recordedStop?.preStop : spec?.lifecycle?.preStop;
  if (preStop === undefined || container.state !== "running") return;
  const target = { containerId: container.id, container: spec ?? { name: container.name }, podIp: status.ips[0] };
  const failure = await runLifecycleHook(deps, preStop, target, { timeoutMs: seconds * 1000, signal });
  if (failure === undefined) return;
  const message = `PreStopHook failed: ${failure}`;
  deps.timeline.record(status, { type: "Warning", reason: "FailedPreStopHook", message, container: container.name });
}

async function secondsOf(clock: Clock, task: () => Promise<void>): Promise<number> {
  const begun = clock.monotonic();
  await task();
  return Math.floor((clock.monotonic() - begun) / 1000);
}

async function waitAtMost(clock: Clock, turn: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const { controller, release } = childController(signal);
  try {
    await Promise.race([turn, sleep(clock, ms, controller.signal)]);
  } finally {
    controller.abort();
    release();
  }
}

/** Neither exited nor never started; one in an unknown state might run. */
function mayRun(container: ContainerRuntimeStatus): boolean {
  return container.state === "running" || container.state === "unknown";
}

function findSpec(pod: Pod | undefined, name: string): Container | undefined {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === name);
}
