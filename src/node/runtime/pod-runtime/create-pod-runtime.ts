import type { Container, Pod } from "../../../api/gen/types.ts";
import { isRestartableInitContainer, podReference } from "../../../api/pods.ts";
import { assert } from "../../../base/assert.ts";
import type { BackOff } from "../../../base/back-off.ts";
import { throwJoined } from "../../../base/errors.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { Host } from "../../../host/port.ts";
import { isSameContainer } from "../config/container-hash.ts";
import type { PresentImage } from "../images/image-outcome.ts";
import { computePodActions } from "../plan/compute-pod-actions.ts";
import type { PlanInput } from "../plan/plan-input.ts";
import type { ContainerToStart, PodActions } from "../plan/pod-actions.ts";
import type { PodRuntimeStatus, SandboxItem } from "../reading/pod-runtime-status.ts";
import { createCrashLoopBackOff } from "./crash-loop-back-off.ts";
import type { PodConfigs } from "./create-pod-configs.ts";
import { createRuntimeMetrics } from "./metrics.ts";
import type { PodFiles } from "./pod-files.ts";
import type { PodResizer } from "./pod-resizer.ts";
import type { PodRuntime, SyncOptions } from "./pod-runtime.ts";
import { removeOld } from "./remove-old.ts";
import { removePod } from "./remove-pod.ts";
import { resetContainers } from "./reset-containers.ts";
import { type ContainerStarter, createContainerStarter, type RuntimeVolumeDeps } from "./start-container.ts";
import type { StartFailure } from "./start-failure.ts";
import { createStartLine } from "./start-line.ts";
import { createSandboxStarter, type RuntimeHandlerDeps, type SandboxStarter } from "./start-sandbox.ts";
import { type StopDeps, stopContainer, stopPod } from "./stop-pod.ts";

interface PodRuntimeDeps extends RuntimeHandlerDeps, RuntimeVolumeDeps, Pick<StopDeps, "endProbes"> {
  cri: Cri;
  host: Host;
  timeline: Timeline;
  metrics: Metrics;
  configs: PodConfigs;
  /** How long containers that failed wait; see `createCrashLoopBackOff`. */
  backOff: BackOff;
  /** Makes sure that the runtime has the image; returns it, or why there is none. */
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<PresentImage | StartFailure>;
  podFiles: Pick<PodFiles, "makeMounts">;
  /** Gives running containers other resources; undefined where they keep what they were started with. */
  resizer?: PodResizer | undefined;
  /** What the probes say of running containers. */
  verdictOf: PlanInput["verdictOf"];
  /** The node's addresses, primary first. */
  hostIps(): readonly string[];
  podLogsDirectory: string;
  containerLogsDirectory: string;
}

/** The executor of plans: one call of the runtime after another, in the order that the plan gives. */
export function createPodRuntime(deps: PodRuntimeDeps): PodRuntime {
  const { host, timeline } = deps;
  const runtime = deps.cri.runtime;
  const metrics = createRuntimeMetrics(deps.metrics);
  const stopDeps = { runtime, host, timeline, metrics, endProbes: deps.endProbes };
  const removeDeps = { ...deps, runtime, files: host.files };
  const sandboxes = createSandboxStarter({ ...deps, runtime, metrics });
  const containers = createContainerStarter({ ...deps, runtime, metrics });
  const startLine = createStartLine(host.clock);
  const crashLoops = createCrashLoopBackOff({ backOff: deps.backOff, clock: host.clock, timeline });

  const kill = async (pod: Pod, status: PodRuntimeStatus, actions: PodActions, signal: AbortSignal): Promise<void> => {
    if (actions.killPod !== undefined) {
      if (actions.createSandbox !== undefined) {
        const message = "Pod sandbox changed, it will be killed and re-created.";
        timeline.record(status, { type: "Normal", reason: "SandboxChanged", message });
      }
      await stopPod(stopDeps, pod, status, { gracePeriodSeconds: undefined, signal });
      return;
    }
    const stops = actions.containersToKill.map(async ({ id, message, gracePeriodSeconds }) => {
      const container = status.containers.find((candidate) => candidate.id === id);
      if (container === undefined) return;
      await stopContainer(stopDeps, { pod, status, container, message }, { gracePeriodSeconds, signal });
    });
    // All stops end before the next sync may begin.
    const ends = await Promise.allSettled(stops);
    throwJoined(
      ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
      "stopping containers",
    );
  };

  return {
    async sync(pod, read, options) {
      const once = onlyOnce(options.beforeChange);
      const { actions, status } = await restartAll(pod, read, { ...options, beforeChange: once });
      const failures = new Map<string, StartFailure>(
        actions.backingOff.map(({ container, until }) => [container.name, crashLoops.tell(pod, container, until)]),
      );
      if (isStopping(actions)) {
        once();
        await kill(pod, status, actions, options.signal);
      }
      const resizeError = await resize(pod, actions, { ...options, beforeChange: once });
      const run = runOf(pod, { actions, status }, { ...options, beforeChange: once });
      for (const [name, failure] of await start(run)) failures.set(name, failure);
      const isWhole = !(await removeOld({ ...removeDeps, timeline }, run)) && status === read && !isStopping(actions);
      return { failures, ...(isWhole && { made: run.made }), ...(resizeError !== undefined && { resizeError }) };
    },
    async stop(pod, status, options) {
      await stopPod(stopDeps, pod, status, options);
    },
    async remove(status, options) {
      await removePod(removeDeps, status, options);
      crashLoops.forget(status.uid);
      deps.resizer?.forget(status.uid);
    },
  };

  /**
   * Removes all containers where the plan says that they restart, and plans again: the pod begins anew in the same sync. What
   * a crash leaves of the removal is what the next sync plans.
   */
  async function restartAll(
    pod: Pod,
    status: PodRuntimeStatus,
    { beforeChange, signal }: SyncOptions,
  ): Promise<Planned> {
    const actions = planNow(pod, status);
    if (actions.restartOfAll === undefined) return { actions, status };
    const { triggers, containers: removed } = actions.restartOfAll;
    beforeChange();
    await resetContainers({ ...removeDeps, ...stopDeps }, { pod, status, containers: removed }, signal);
    for (const { container, endedAt } of triggers) crashLoops.lengthen(pod, container, endedAt);
    const gone = new Set(removed.map(({ container }) => container));
    const left = { ...status, containers: status.containers.filter((container) => !gone.has(container)) };
    return { actions: planNow(pod, left), status: left };
  }

  function planNow(pod: Pod, status: PodRuntimeStatus): PodActions {
    const { uid } = podReference(pod);
    const waitUntil = (container: Container, endedAt: number) => crashLoops.waitUntil(uid, container, endedAt);
    const now = host.clock.now();
    const actuated = deps.resizer?.actuatedOf(uid);
    return computePodActions({ pod, status, now, waitUntil, isSameContainer, actuated, verdictOf: deps.verdictOf });
  }

  async function resize(pod: Pod, actions: PodActions, options: SyncOptions): Promise<string | undefined> {
    if (actions.resize === undefined) return undefined;
    options.beforeChange();
    const run = { pod, sandboxId: actions.sandboxId, resize: actions.resize };
    return await deps.resizer?.resize(run, options.signal);
  }

  async function start(run: Run): Promise<Map<string, StartFailure>> {
    const { actions, options } = run;
    if (actions.createSandbox !== undefined)
      return await startLine.run(async () => await startNow(run), options.signal);
    // A container that starts in an existing sandbox (after its back-off, say) does not wait in line behind whole pods.
    return actions.containersToStart.length > 0 ? await startNow(run) : new Map();
  }

  async function startNow(run: Run): Promise<Map<string, StartFailure>> {
    const { pod, actions, options } = run;
    const failures = new Map<string, StartFailure>();
    options.beforeChange();
    crashLoops.collect();
    const sandbox = await readySandbox(sandboxes, run);
    await options.volumes.finished;
    if (actions.createSandbox !== undefined) options.onSandboxReady?.();
    for (const next of actions.containersToStart) {
      options.signal.throwIfAborted();
      if (next.previousEndedAt !== undefined) {
        crashLoops.lengthen(pod, next.container, next.previousEndedAt);
      }
      deps.resizer?.starts(pod, next.container);
      const failure = await startOne(containers, run, sandbox, next);
      if (failure === undefined) continue;
      failures.set(next.container.name, failure);
      // The containers after an init container wait for it.
      if (next.kind === "init" && !isRestartableInitContainer(next.container)) break;
    }
    return failures;
  }
}

/** A plan, and what it was made from. */
interface Planned {
  actions: PodActions;
  status: PodRuntimeStatus;
}

interface Run {
  pod: Pod;
  status: PodRuntimeStatus;
  actions: PodActions;
  options: SyncOptions;
  made: Made;
}

function runOf(pod: Pod, { actions, status }: Planned, options: SyncOptions): Run {
  return { pod, status, actions, options, made: { sandboxes: [], containers: [] } };
}

/** The IDs that the runtime answered with. */
interface Made {
  readonly sandboxes: SandboxItem[];
  readonly containers: Array<{ id: string; sandboxId: string }>;
}

interface Sandbox {
  id: string;
  config: cri.PodSandboxConfig;
  ips: readonly string[];
}

function isStopping({ killPod, containersToKill }: PodActions): boolean {
  return killPod !== undefined || containersToKill.length > 0;
}

async function readySandbox(starter: SandboxStarter, { pod, status, actions, options, made }: Run): Promise<Sandbox> {
  const { volumes } = options.volumes;
  if (actions.createSandbox !== undefined) {
    const started = await starter.start(pod, { attempt: actions.createSandbox.attempt, volumes }, options.signal);
    made.sandboxes.push({ id: started.id, status: started.status });
    return started;
  }
  const current = status.sandboxes.find(({ id }) => id === actions.sandboxId);
  assert(current !== undefined, "the plan starts containers only in a sandbox");
  return {
    id: current.id,
    config: await starter.configOf(pod, { attempt: current.attempt, volumes }),
    ips: current.ips,
  };
}

async function startOne(
  starter: ContainerStarter,
  { pod, status, options, made }: Run,
  sandbox: Sandbox,
  next: ContainerToStart,
): Promise<StartFailure | undefined> {
  const onCreated = (id: string) => made.containers.push({ id, sandboxId: sandbox.id });
  const run = { pod, status, sandbox, next, volumes: options.volumes.volumes, onCreated };
  return await starter.start(run, options.signal);
}

function onlyOnce(task: () => void): () => void {
  let done = false;
  return () => {
    if (!done) task();
    done = true;
  };
}
