import type { Pod } from "../../../api/gen/types.ts";
import { isMirrorPod, isTerminalPhase, podReference, sourceOf } from "../../../api/pods.ts";
import { sleep } from "../../../base/abort.ts";
import { assertNever } from "../../../base/assert.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import type { PodUpdate } from "../desired/pod-update.ts";
import type { PodLifecycleEvent } from "../pleg/lifecycle-events.ts";
import type { SourceSnapshot } from "../sources/source-snapshot.ts";
import type { PodState, WorkerUpdate } from "../workers/pod-state.ts";
import { planHousekeeping, planReplacements } from "./housekeeping.ts";
import type { LoopEvent, LoopInbox } from "./loop-inbox.ts";

/**
 * The one serial loop: takes what happened, one event at a time, and tells the workers. It decides which pods are let in
 * and never waits for a pod; while the runtime is not fit it takes nothing.
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
    /** What the snapshot changes, in the order to be handled. */
    apply(snapshot: SourceSnapshot): PodUpdate[];
    byUid(uid: string): Pod | undefined;
    /** Every source has spoken: what no source names is not wanted. */
    allReady(): boolean;
  };
  workers: {
    update(update: WorkerUpdate): void;
    state(uid: string): PodState | undefined;
    states(): ReadonlyMap<string, PodState>;
  };
  /** What the runtime holds, as of the last reading. */
  runtimePods(): ReadonlyMap<string, RuntimePod>;
  /** Undefined when the pod may run here; `undecided`: a `decidable` event will follow. */
  admit(pod: Pod): Rejection | "undecided" | undefined;
  /** Publishes that the pod was refused. */
  reject(pod: Pod, rejection: Rejection): void;
  /** Nothing of the pod is left and no source names it. */
  forget(uid: string): void;
  /** Removes pod directories whose UID is not known; goes on by itself. */
  collectDirectories(isKnown: (uid: string) => boolean): void;
  /** Why no pod can be worked on now; undefined when all is well. */
  runtimeError(): string | undefined;
  /** The API server shows this of a pod of the node, or of the mirror of one. */
  onShown(pod: Pod): void;
  /** A source was applied, or a pod is gone: which pods should be there may have changed. */
  onPodsChanged(): void;
  /** The runtime's pods were all read. */
  onRelisted(): void;
}

/** Why a pod must not run here. */
interface Rejection {
  reason: string;
  message: string;
}

/** Upstream's back-off of the loop while the runtime is not fit (pkg/kubelet/kubelet.go). */
const PAUSE_MS = { first: 100, longest: 5_000 };

export function createSyncLoop(deps: SyncLoopDeps): SyncLoop {
  const { clock, log, workers, desired } = deps;
  let lastTurn = clock.monotonic();

  const add = (pod: Pod): void => {
    const { uid } = podReference(pod);
    // What has ended, or shall, needs no leave to do so.
    if (workers.state(uid) === undefined && !isEnding(pod)) {
      const rejection = deps.admit(pod);
      if (rejection === "undecided") {
        log.debug("Admission of a pod waits", { pod: podReference(pod) }, 2);
        return;
      }
      if (rejection !== undefined) {
        log.warn("Pod is refused", { pod: podReference(pod), reason: rejection.reason, message: rejection.message });
        deps.reject(pod, rejection);
        return;
      }
    }
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

  /** A refused pod is tried again: what was said of it no longer holds. To the API server its failure was final. */
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
      // Of a mirror pod nothing is run: it shows one that is.
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
          // Mostly it is our own status that comes back.
          if (heedsStatus(pod)) workers.update({ type: "sync", subject: { kind: "pod", pod } });
          break;
        default:
          assertNever(update.op, "pod update");
      }
    }
  };

  const sync = (event: PodLifecycleEvent): void => {
    // Nothing follows from a removal: it was ours, or the container's end was told before.
    if (event.type === "ContainerRemoved" || event.type === "ContainerChanged") return;
    const pod = desired.byUid(event.uid);
    if (pod === undefined) return;
    // A start was ours too, and whoever made it has told of it; but what comes after a sidecar waits to hear of it.
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
        // From now on it is known whom nobody names; the mirror of one that ran goes only after it.
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
        // One that is to go meanwhile was let in to do so.
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
        // While the loop waited for the runtime, the pod's source may have brought it back: that life is another.
        if (workers.state(event.uid) !== undefined) break;
        const pod = desired.byUid(event.uid);
        deps.forget(event.uid);
        // One that is deleted is named until the API server has let go of it.
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
        // Taken only after the wait: a snapshot in hand would be old by the time the runtime is back.
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
  { clock, log, runtimeError }: Pick<SyncLoopDeps, "clock" | "log" | "runtimeError">,
  signal: AbortSignal,
): Promise<void> {
  let wait = PAUSE_MS.first;
  for (let error = runtimeError(); error !== undefined; error = runtimeError()) {
    // At every start the runtime has not been asked yet; that is over before the first wait is.
    const say = wait === PAUSE_MS.first ? log.debug : log.error;
    say("Skipping pod synchronization", { reason: error, waitMs: wait });
    await sleep(clock, wait, signal);
    wait = Math.min(wait * 2, PAUSE_MS.longest);
  }
}

function isEnding({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined || isTerminalPhase(status?.phase);
}

/** Somebody else's word in the status matters to the pod's life: its readiness gates, or that it was given up. */
function heedsStatus({ spec, status }: Pod): boolean {
  return (spec?.readinessGates ?? []).length > 0 || isTerminalPhase(status?.phase);
}

function byCreationTime(a: Pod, b: Pod): number {
  const [left = "", right = ""] = [a.metadata?.creationTimestamp, b.metadata?.creationTimestamp];
  return left < right ? -1 : left > right ? 1 : 0;
}
