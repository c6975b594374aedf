import type { Container, Pod } from "../../../api/gen/types.ts";
import { childController, isAbort, sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { codeOf, throwJoined } from "../../../base/errors.ts";
import type { Timeline } from "../../../base/timeline.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Host } from "../../../host/port.ts";
import type { ContainerRuntimeStatus, PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import { runLifecycleHook } from "./lifecycle-hooks.ts";
import type { HookMetrics } from "./metrics.ts";
import { createStopOrder } from "./stop-order.ts";

/** How containers are stopped. */
export interface StopDeps {
  runtime: Cri["runtime"];
  host: Host;
  timeline: Timeline;
  /** Undefined where nobody reads metrics, as when a cluster is taken down. */
  metrics: HookMetrics | undefined;
  /** Ends the probes of a container that has been stopped; undefined where nothing is probed. */
  endProbes: ((containerId: string) => void) | undefined;
}

interface StopOptions {
  /** The most seconds that this stop allows; undefined: as many as the pod, or the container's annotations, allow. */
  gracePeriodSeconds: number | undefined;
  signal: AbortSignal;
}

/** A container gets at least this time between SIGTERM and SIGKILL, whatever is left of its grace period, as upstream. */
const MINIMUM_GRACE_PERIOD_SECONDS = 2;
/**
 * The longest grace period, 292 years: runtimes count it in nanoseconds, and what is longer becomes negative there, or
 * does not fit into the message at all. The field allows any int64.
 */
const MAXIMUM_GRACE_PERIOD_SECONDS = Number((2n ** 63n - 1n) / 1_000_000_000n);
/** The grace period of a pod whose own is not known. */
export const DEFAULT_GRACE_PERIOD_SECONDS = 30;
/** How much longer than the grace period the runtime may take to answer before the call is given up. */
const STOP_SLACK_MS = 120_000;
/** A hook's command is ended this much later than its time, should its container not end first. */
const COMMAND_SLACK_MS = 10_000;
/** How soon a failed call is made again. */
const STOP_RETRY_MS = 1_000;

/**
 * Stops every container of the pod and then its sandboxes. All stops begin at once, preStop hooks included; sidecars let the
 * others end first, for as long as the grace period lasts. A failure does not keep the rest from being stopped; once
 * nothing is in flight, it rejects with all failures.
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
    ready.map(async ({ id }) => {
      await stopSandbox(deps.runtime, id, options.signal);
      // The address is free from now on, and may be another pod's at once.
      for (const each of status.containers) if (each.sandboxId === id) deps.endProbes?.(each.id);
    }),
  );
  options.signal.throwIfAborted();
  throwJoined(
    [...stopped, ...down].flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
    "stopping the pod",
  );
}

/** Stops the network and the processes of a sandbox; a sandbox that does not exist counts as stopped. */
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
  /** The message of the Killing event; default `Stopping container <name>`. */
  message?: string | undefined;
  /** Resolves when the container need not wait for others any longer; undefined where it need not wait at all. */
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
  // A timer may fire a moment early, so a wait that ran into its limit counts as the whole time.
  const wait = async (until: Promise<void>) => {
    const begun = clock.monotonic();
    const hasCome = await waitAtMost(clock, until, left * 1000, options.signal);
    return hasCome ? Math.floor((clock.monotonic() - begun) / 1000) : left;
  };
  const hook = left > 0 ? startPreStop(deps, stop, left, options.signal) : undefined;
  try {
    if (hook !== undefined) left -= await wait(hook.ended);
    if (left > 0 && turn !== undefined) left -= await wait(turn);
    await askToStop(deps, container.id, {
      seconds: Math.max(MINIMUM_GRACE_PERIOD_SECONDS, left),
      signal: options.signal,
    });
    // What answers at the pod's address from now on may be the container's successor.
    deps.endProbes?.(container.id);
  } finally {
    await hook?.end();
  }
}

/**
 * Stops the container. A failed call is repeated until the container's time is over and only then given up, because the next
 * step stops the sandbox, which kills its processes at once.
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

/** The grace period in whole seconds. An orphan's container gets at most what was recorded when the container was made. */
function gracePeriodOf({ pod, container }: ContainerStop, { gracePeriodSeconds }: StopOptions): number {
  const own = pod?.metadata?.deletionGracePeriodSeconds ?? pod?.spec?.terminationGracePeriodSeconds;
  const granted = gracePeriodSeconds ?? own ?? DEFAULT_GRACE_PERIOD_SECONDS;
  const recorded = pod === undefined ? container.recordedStop?.gracePeriodSeconds : undefined;
  return Math.min(granted, recorded ?? granted, MAXIMUM_GRACE_PERIOD_SECONDS);
}

interface RunningHook {
  /** Resolves when the hook has ended, in whatever way. Rejects only when the stop is given up. */
  readonly ended: Promise<void>;
  /** Gives the hook up where it still runs; resolves when it has ended. */
  end(): Promise<void>;
}

/**
 * Starts the preStop hook; undefined where the container has none, or does not run. A command that takes too long is not
 * waited for, but runs on until its container ends, as upstream: it may still finish in the last two seconds.
 */
function startPreStop(
  deps: StopDeps,
  stop: ContainerStop,
  seconds: number,
  signal: AbortSignal,
): RunningHook | undefined {
  const { pod, status, container } = stop;
  const spec = findSpec(pod, container.name);
  const preStop = pod === undefined ? container.recordedStop?.preStop : spec?.lifecycle?.preStop;
  if (preStop === undefined || container.state !== "running") return undefined;
  const target = { containerId: container.id, container: spec ?? { name: container.name }, podIp: status.ips[0] };
  const warn = (reason: string, message: string) =>
    deps.timeline.record(status, { type: "Warning", reason, message, container: container.name });
  const hook = { ...deps, onHttpFallback: (message: string) => warn("LifecycleHTTPFallback", message) };
  const timeoutMs = seconds * 1000 + (preStop.exec === undefined ? 0 : COMMAND_SLACK_MS);
  const { controller, release } = childController(signal);
  const run = async () => {
    try {
      const failure = await runLifecycleHook(hook, preStop, target, { timeoutMs, signal: controller.signal });
      if (failure !== undefined) warn("FailedPreStopHook", `PreStopHook failed: ${failure}`);
    } catch (error) {
      signal.throwIfAborted();
      if (!isAbort(error)) throw error;
      // Only `end` aborts the hook then: the container is gone, and its command with it.
      warn("FailedPreStopHook", `PreStopHook failed: not completed in ${seconds} s`);
    } finally {
      release();
    }
  };
  const ended = run();
  return {
    ended,
    async end() {
      controller.abort();
      await Promise.allSettled([ended]);
    },
  };
}

/** Waits for the promise, at most for so long; whether it resolved in time. */
async function waitAtMost(clock: Clock, until: Promise<void>, ms: number, signal: AbortSignal): Promise<boolean> {
  const { controller, release } = childController(signal);
  try {
    return await Promise.race([until.then(() => true), sleep(clock, ms, controller.signal).then(() => false)]);
  } finally {
    controller.abort();
    release();
  }
}

/** Whether the container may be running: one in an unknown state might. */
function mayRun(container: ContainerRuntimeStatus): boolean {
  return container.state === "running" || container.state === "unknown";
}

function findSpec(pod: Pod | undefined, name: string): Container | undefined {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod?.spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === name);
}
