import type { NodeCondition, Pod } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import type { Clock } from "../../base/clock.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { PodHistory } from "../../history/pod-history.ts";
import { computeNodeConditions, type NodePressure } from "../cluster/node-status/node-conditions.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import type { SyncLoop } from "../pods/loop/sync-loop.ts";
import type { Pleg } from "../pods/pleg/pleg.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { RuntimePod } from "../runtime/reading/pod-runtime-status.ts";
import type { RuntimeHealth } from "../runtime/reading/runtime-health.ts";
import type { NodeView } from "../server/handlers.ts";
import { createHealthChecks } from "../server/health-checks.ts";
import { createExplainer } from "./create-explainer.ts";
import { createPodsRevision } from "./pods-revision.ts";

interface NodeViewDeps {
  nodeName: string;
  clock: Clock;
  renderMetrics: NodeView["metrics"];
  statistics: NodeView["statistics"];
  timeline: Timeline;
  /** Undefined where no history is kept. */
  history: Pick<PodHistory, "read"> | undefined;
  desired: DesiredPods;
  manifestProblems: NodeView["manifestProblems"];
  statuses: PodStatuses;
  workers: PodWorkers;
  health: RuntimeHealth;
  pleg: Pleg;
  loop: SyncLoop;
  /** The reasons why pods cannot run now. */
  errors(): readonly string[];
  /** The resources that the node is short of. */
  pressure(): NodePressure;
}

/** A sync loop that has not turned for this long is stuck (upstream: pkg/kubelet/kubelet.go, syncLoopHealthCheck). */
const LOOP_THRESHOLD_MS = 5 * 60_000;

/** The node as its HTTP servers show it: read-only, gathered anew for each request. */
export function createNodeView(deps: NodeViewDeps): NodeView {
  const { clock, statuses, desired, workers, health, pleg } = deps;
  let conditions: NodeCondition[] = [];

  const view: Omit<NodeView, "explainer"> = {
    nodeName: deps.nodeName,
    runtime: () => health.runtime(),
    conditions() {
      conditions = computeNodeConditions({
        errors: deps.errors(),
        pressure: deps.pressure(),
        previous: conditions,
        now: clock.now(),
      });
      return conditions;
    },
    pods() {
      const wanted = desired.pods().map((pod) => withStatus(pod, statuses.get(podUid(pod))));
      const ending = [...workers.states().values()].flatMap(({ subject }) =>
        subject.kind === "pod" ? [subject.pod] : [],
      );
      const leaving = ending.filter((pod) => desired.byUid(podUid(pod)) === undefined);
      return [...wanted, ...leaving.map((pod) => withStatus(marked(pod, clock.now()), statuses.get(podUid(pod))))];
    },
    manifestProblems: deps.manifestProblems,
    revisionOf: createPodsRevision(clock.now()),
    runningPods: () => [...pleg.pods().values()].filter(isRunning).map(asPod),
    timeline: () =>
      [...desired.pods().map(podUid), ...workers.states().keys()].filter(isFirst).flatMap(deps.timeline.read),
    health: createHealthChecks(
      {
        ping: () => undefined,
        // Upstream's check asks whether its log can be written. This log is written in order, so the check would have
        // to wait for it.
        log: () => undefined,
        syncloop() {
          const idle = clock.monotonic() - deps.loop.lastTurn();
          return idle > LOOP_THRESHOLD_MS ? "sync Loop took longer than expected" : undefined;
        },
      },
      { startedAt: clock.now() },
    ),
    metrics: deps.renderMetrics,
    statistics: deps.statistics,
  };
  return { ...view, explainer: createExplainer({ ...deps, pods: view.pods, conditions: view.conditions }) };
}

function withStatus(pod: Pod, status: Pod["status"]): Pod {
  return status === undefined ? pod : { ...pod, status };
}

/** Marks a pod that no source names any more, so that it is shown as `kubectl` shows a pod that is being deleted. */
function marked(pod: Pod, now: number): Pod {
  const deletionTimestamp = pod.metadata?.deletionTimestamp ?? new Date(now).toISOString();
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp } };
}

function isRunning({ sandboxes, containers }: RuntimePod): boolean {
  return sandboxes.some(({ state }) => state === "ready") || containers.some(({ state }) => state === "running");
}

/** Describes as much of a Pod as the runtime's labels tell, which is what kubelet's `/runningpods/` returns. */
function asPod({ uid, name, namespace, containers }: RuntimePod): Pod {
  const running = containers.filter(({ state }) => state === "running");
  return {
    metadata: { uid, name, namespace },
    spec: { containers: running.map((container) => ({ name: container.name, resources: {} })) },
    status: {},
  };
}

function isFirst<T>(item: T, index: number, all: readonly T[]): boolean {
  return all.indexOf(item) === index;
}
