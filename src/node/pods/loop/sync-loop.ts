import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod, isTerminalPhase, podReference, sourceOf } from "../../../api/pods.ts";
import { assertNever } from "../../../base/assert.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import { createChangeFlag } from "../../../base/change-flag.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodRejection } from "../admission/pod-rejection.ts";
import type { PodUpdate } from "../desired/pod-update.ts";
import type { PodLifecycleEvent } from "../pleg/lifecycle-events.ts";
import type { RuntimeErrors } from "../pleg/runtime-errors.ts";
import type { SourceSnapshot } from "../sources/source-snapshot.ts";
import type { PodState, WorkerUpdate } from "../workers/pod-state.ts";
import { planHousekeeping, planReplacements } from "./housekeeping.ts";
import type { LoopEvent, LoopInbox } from "./loop-inbox.ts";
import { isToldOnce } from "./one-life.ts";

/**
 * The one serial loop: takes one event at a time and tells the workers what follows from it. It decides which pods are
 * admitted and never waits for a pod; while the runtime is not fit it takes no event.
 */
export interface SyncLoop {
  run(signal: AbortSignal): Promise<void>;
  /** When the loop last handled an event, milliseconds of `Clock.monotonic`; relists make one at least every 30 s. */
  lastTurn(): number;
}

interface SyncLoopDeps {
  clock: Clock;
  log: Log;
  inbox: Pick<LoopInbox, "ready" | "take">;
  desired: {
    /** The changes that the snapshot makes, in the order in which they are to be handled. */
    apply(snapshot: SourceSnapshot): PodUpdate[];
    byUid(uid: string): Pod | undefined;
    /** Every source was read: a pod that no source names is not wanted. */
    allReady(): boolean;
  };
  workers: {
    update(update: WorkerUpdate): void;
    state(uid: string): PodState | undefined;
    states(): ReadonlyMap<string, PodState>;
  };
  /** The runtime's pods, as of the last reading. */
  runtimePods(): ReadonlyMap<string, RuntimePod>;
  /** Undefined when the pod may run here; `undecided`: a `decidable` event will follow. */
  admit(pod: Pod): PodRejection | "undecided" | undefined;
  /** Publishes that the pod was refused. */
  reject(pod: Pod, rejection: PodRejection): void;
  /** Nothing of the pod is left and no source names it. */
  forget(uid: string): void;
  /** Removes pod directories whose UID is not known; it works in the background. */
  collectDirectories(isKnown: (uid: string) => boolean): void;
  runtime: Pick<RuntimeErrors, "runtimeError" | "subscribe">;
  /** The API server shows this pod of the node, or this mirror of one. */
  onShown(pod: Pod): void;
  /** A source was applied, or a pod is gone: which pods should be there may have changed. */
  onPodsChanged(): void;
  /** The runtime's pods were all read. */
  onRelisted(): void;
}

/** Upstream's back-off of the loop while the runtime is not fit (pkg/kubelet/kubelet.go). */
const PAUSE = { initialMs: 100, maxMs: 5_000 };

export function createSyncLoop(deps: SyncLoopDeps): SyncLoop {
  const { clock, log, workers, desired } = deps;
  let lastTurn = clock.monotonic();

  const add = (pod: Pod): void => {
    const { uid } = podReference(pod);
    // A pod that has ended or is to be deleted is not asked about: its worker only cleans up after it.
    if (workers.state(uid) === undefined && !isEnding(pod) && !admitNew(deps, pod)) return;
    const known = { runtimePods: deps.runtimePods(), states: workers.states() };
    tearDown(planReplacements({ ...known, pod: podReference(pod) }));
    workers.update({ type: "create", subject: { kind: "pod", pod } });
  };

  const tearDown = (orphans: readonly RuntimePod[]): void => {
    for (const pod of orphans) {
      log.info("Pod is known to the runtime only and is torn down", {
        pod: `${pod.namespace}/${pod.name}`,
        uid: pod.uid,
      });
      workers.update({ type: "kill", subject: { kind: "orphan", pod }, kill: { deleted: true } });
    }
  };

  /** Tries a refused pod again, because its update may have changed the verdict. The API server's pods stay failed. */
  const addAnew = (pod: Pod): void => {
    if (sourceOf(pod) === "api" && !isEnding(pod)) return;
    deps.forget(podReference(pod).uid);
    add(pod);
  };

  const remove = (pod: Pod): void => {
    const { uid } = podReference(pod);
    if (workers.state(uid) === undefined) deps.forget(uid);
    else workers.update({ type: "kill", subject: { kind: "pod", pod }, kill: { deleted: true } });
  };

  const applyUpdate = (update: PodUpdate): void => {
    const names = update.pods.map((pod) => `${podReference(pod).namespace}/${podReference(pod).name}`);
    log.debug(`SyncLoop ${update.op}`, { source: update.source, pods: names }, 2);
    for (const pod of [...update.pods].sort(byCreationTime)) {
      if (update.source === "api" && update.op !== "REMOVE") deps.onShown(pod);
      // A mirror pod is not run: it shows a static pod that is.
      if (isMirrorPod(pod)) continue;
      switch (update.op) {
        case "ADD":
          add(pod);
          break;
        case "UPDATE":
        case "DELETE":
          if (workers.state(podReference(pod).uid) === undefined) addAnew(pod);
          else workers.update({ type: "update", subject: { kind: "pod", pod } });
          break;
        case "REMOVE":
          remove(pod);
          break;
        case "RECONCILE":
          // Most of these updates are the node's own statuses that come back.
          if (heedsStatus(pod)) workers.update({ type: "sync", subject: { kind: "pod", pod } });
          break;
        default:
          assertNever(update.op, "pod update");
      }
    }
  };

  const sync = (event: PodLifecycleEvent): void => {
    // Nothing follows from a removal: the node removed the container itself, or heard of its end before.
    if (event.type === "ContainerRemoved" || event.type === "ContainerChanged") return;
    const pod = desired.byUid(event.uid);
    if (pod === undefined) return;
    // The pod's worker made the start itself and has published it; only the containers after a sidecar wait to hear of
    // it.
    if (event.type === "ContainerStarted" && (pod.spec?.initContainers ?? []).length === 0) return;
    log.debug("SyncLoop (PLEG): event for pod", { ...event }, 2);
    workers.update({ type: "sync", subject: { kind: "pod", pod } });
  };

  const keepHouse = (): void => {
    if (!desired.allReady()) return;
    tearDown(planHousekeeping({ runtimePods: deps.runtimePods(), states: workers.states() }));
    deps.collectDirectories((uid) => workers.state(uid) !== undefined || deps.runtimePods().has(uid));
  };

  const handle = (event: LoopEvent): void => {
    switch (event.type) {
      case "source": {
        const wereReady = desired.allReady();
        for (const update of desired.apply(event.snapshot)) applyUpdate(update);
        // From now on it is known which pods no source names. The mirror of such a pod goes only after the pod.
        if (!wereReady) keepHouse();
        deps.onPodsChanged();
        break;
      }
      case "referenced":
      case "probed": {
        const pod = workers.state(event.uid)?.phase === "syncing" ? desired.byUid(event.uid) : undefined;
        if (pod !== undefined) workers.update({ type: "update", subject: { kind: "pod", pod } });
        break;
      }
      case "decidable": {
        const pod = desired.byUid(event.uid);
        // A pod that was to be deleted meanwhile has a worker, which cleans up after it.
        if (pod !== undefined && workers.state(event.uid) === undefined) add(pod);
        deps.onPodsChanged();
        break;
      }
      case "lifecycle":
        sync(event.event);
        break;
      case "relisted":
        keepHouse();
        deps.onRelisted();
        break;
      case "gone": {
        // The pod's source may have brought it back while the loop waited for the runtime: its worker is of a new life.
        if (workers.state(event.uid) !== undefined) break;
        const pod = desired.byUid(event.uid);
        if (!isToldOnce(pod)) deps.forget(event.uid);
        // The API server's source names a deleted pod until the API server has removed it.
        if (pod !== undefined && pod.metadata?.deletionTimestamp === undefined) add(pod);
        deps.onPodsChanged();
        break;
      }
    }
  };

  return {
    async run(signal) {
      while (!signal.aborted) {
        await deps.inbox.ready(signal);
        // The event is taken only after the wait: a snapshot in hand would be old by the time the runtime is back.
        await untilRuntimeIsFit(deps, signal);
        const event = await deps.inbox.take(signal);
        lastTurn = clock.monotonic();
        handle(event);
      }
    },
    lastTurn: () => lastTurn,
  };
}

async function untilRuntimeIsFit(
  { clock, log, runtime }: Pick<SyncLoopDeps, "clock" | "log" | "runtime">,
  signal: AbortSignal,
): Promise<void> {
  if (runtime.runtimeError() === undefined) return;
  const changed = createChangeFlag(clock);
  const unsubscribe = runtime.subscribe(changed.raise);
  try {
    for (let waits = 1; ; ) {
      const error = runtime.runtimeError();
      if (error === undefined) return;
      const waitMs = computeBackOff(waits, PAUSE);
      // The runtime has not been asked yet at every start, which is over before the first wait is: that is no error.
      const say = waits === 1 ? log.debug : log.error;
      say("Skipping pod synchronization", { reason: error, waitMs });
      if (!(await changed.wait(waitMs, signal))) waits++;
    }
  } finally {
    unsubscribe();
  }
}

/** True for a new pod that is admitted; a pod that is not is refused at once, unless the verdict waits. */
function admitNew({ log, admit, reject }: Pick<SyncLoopDeps, "log" | "admit" | "reject">, pod: Pod): boolean {
  const rejection = admit(pod);
  if (rejection === undefined) return true;
  if (rejection === "undecided") {
    log.debug("Admission of a pod waits", { pod: podReference(pod) }, 2);
    return false;
  }
  log.warn("Pod is refused", { pod: podReference(pod), reason: rejection.reason, message: rejection.message });
  reject(pod, rejection);
  return false;
}

function isEnding({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined || isTerminalPhase(status?.phase);
}

/** True where what others wrote into the status matters to the pod: its readiness gates, or that it has failed. */
function heedsStatus({ spec, status }: Pod): boolean {
  return (spec?.readinessGates ?? []).length > 0 || isTerminalPhase(status?.phase);
}

function byCreationTime(a: Pod, b: Pod): number {
  const [left = "", right = ""] = [a.metadata?.creationTimestamp, b.metadata?.creationTimestamp];
  return left < right ? -1 : left > right ? 1 : 0;
}
