import type { Pod } from "../api/gen/types.ts";
import { podReference } from "../api/pods.ts";
import { computeQosClass } from "../api/qos.ts";
import { type Clock, formatTime } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { createTasks } from "../base/tasks.ts";
import { createTimeline, type Timeline } from "../base/timeline.ts";
import type { NodeAgentConfig } from "../config/node-agent-config.ts";
import type { Rejection } from "./admission/admission.ts";
import { createNodeAdmission } from "./admission/node-admission.ts";
import { composePods } from "./compose-pods.ts";
import { composeRuntime } from "./compose-runtime.ts";
import { composeSources } from "./compose-sources.ts";
import { createDesiredPods } from "./desired/desired-pods.ts";
import { createLoopInbox } from "./loop/loop-inbox.ts";
import { createOrphanDirectories } from "./loop/orphan-directories.ts";
import { createSyncLoop } from "./loop/sync-loop.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import { createNodeMetrics } from "./node-metrics.ts";
import { createNodeView } from "./node-view.ts";
import { followRuntimeEvents } from "./pleg/follow-events.ts";
import { plegError } from "./pleg/pleg.ts";
import type { PodCache } from "./pleg/pod-cache.ts";
import { removeLogsOfUid } from "./runtime/container-logs.ts";
import { readNodeFacts } from "./runtime/read-node-facts.ts";
import type { NodeView } from "./server/handlers.ts";
import { createPodStatuses, type PodStatuses } from "./status/pod-statuses.ts";
import type { PodWorkers } from "./workers/pod-workers.ts";

export interface NodeAgent {
  /**
   * Runs until the signal fires, then stops all that it started and resolves; the pods' containers run on. Rejects when
   * a part of it crashes, after the others have stopped.
   */
  run(signal: AbortSignal): Promise<void>;
  view: NodeView;
  /** What it keeps in memory of its pods, to be looked at: the simulator checks every change, and that nothing stays. */
  memory: NodeAgentMemory;
}

/** Read-only views of what is kept of pods. */
export interface NodeAgentMemory {
  workers: Pick<PodWorkers, "states">;
  statuses: Pick<PodStatuses, "list" | "subscribe">;
  cache: Pick<PodCache, "size">;
}

/** Builds the node agent bottom-up; reading it is reading the architecture. */
export async function createNodeAgent(ports: NodeAgentPorts, config: NodeAgentConfig): Promise<NodeAgent> {
  const { host, log, metrics } = ports;
  const { clock } = host;
  const stopping = new AbortController();
  let crash: Error | undefined;
  const tasks = createTasks((name, error) => {
    crash ??= new Error(`${name} crashed: ${messageOf(error)}`, { cause: error });
    stopping.abort();
  });
  const timeline = createTimeline(clock);
  const facts = await readNodeFacts(host, config);

  const inbox = createLoopInbox();
  const { sources, names } = composeSources({ host, log, emit: inbox.offerSnapshot }, config);
  const desired = createDesiredPods({ clock, log, timeline }, { sources: names });
  const statuses = createPodStatuses({ clock });
  const parts = composeRuntime({ ports, timeline, inbox, facts }, config);
  const { health, pleg, cache, podFiles, volumes } = parts;
  const workers = composePods({ ports, timeline, inbox, facts, parts, statuses }, config);
  const loop = createSyncLoop({
    clock,
    log,
    inbox,
    desired,
    workers,
    runtimePods: pleg.pods,
    admit: createNodeAdmission({ timeline }, { allowedUnsafeSysctls: config.kubelet.allowedUnsafeSysctls ?? [] }),
    reject: (pod, rejection) => reject({ clock, timeline, statuses }, pod, rejection),
    forget: (uid) => {
      statuses.remove(uid);
      cache.forget(uid);
    },
    collectDirectories: createOrphanDirectories({
      clock,
      log,
      tasks,
      directories: podFiles,
      tearDownVolumes: volumes.tearDown,
      removeLogs: async (uid) => await removeLogsOfUid(host.files, config.podLogsDirectory, uid),
    }),
    runtimeError: () => health.runtimeError() ?? plegError(pleg.health()),
    onShown: () => undefined,
    onPodsChanged: () => undefined,
  });

  const { nodeName } = config;
  const setGauges = createNodeMetrics({
    nodeName,
    clock,
    metrics,
    statuses,
    desiredPods: desired.pods,
    states: workers.states,
    runtimePods: pleg.pods,
    discardedEvents: () => inbox.discarded,
  });
  const view = createNodeView({
    nodeName,
    clock,
    renderMetrics: async () => {
      setGauges();
      return { contentType: metrics.contentType, text: await metrics.render() };
    },
    timeline,
    desired,
    statuses,
    workers,
    health,
    pleg,
    loop,
  });
  return {
    view,
    memory: { workers, statuses, cache },
    async run(signal) {
      const stop = () => stopping.abort();
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      for (const source of sources) tasks.spawn("pod source", async () => await source.run(stopping.signal));
      tasks.spawn("runtime health", async () => await health.run(stopping.signal));
      tasks.spawn("PLEG", async () => await pleg.run(stopping.signal));
      tasks.spawn("runtime events", async () => await followRuntimeEvents(ports.events, pleg, stopping.signal));
      tasks.spawn("sync loop", async () => await loop.run(stopping.signal));
      try {
        await tasks.settled();
      } finally {
        signal.removeEventListener("abort", stop);
        await workers.stop();
      }
      if (crash !== undefined) throw crash;
    },
  };
}

/** A pod that is refused fails without having been tried; as upstream, its status says no more than that. */
function reject(
  deps: { clock: Clock; timeline: Timeline; statuses: PodStatuses },
  pod: Pod,
  { reason, message }: Rejection,
): void {
  deps.timeline.record(podReference(pod), { type: "Warning", reason, message });
  const startTime = formatTime(deps.clock.now());
  deps.statuses.set(pod, { phase: "Failed", reason, message, qosClass: computeQosClass(pod), startTime });
}
