import { childController, isAbort, sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { createTasks } from "../../../base/tasks.ts";
import type { PodRuntimeStatus, RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import { createGoneIds } from "./gone-ids.ts";
import { createHintedReadings } from "./hinted-readings.ts";
import { diffRuntimePods, type PodLifecycleEvent, snapshotOf } from "./lifecycle-events.ts";
import { createPlegMetrics } from "./metrics.ts";
import type { PodCache } from "./pod-cache.ts";

/**
 * The pod life cycle event generator: keeps the pod cache true and tells the loop which pods changed.
 *
 * Three things make it read: the node agent's own call changed a pod (`refresh`), the runtime sent an event (`hint`), and
 * the relist, which reads the lists of everything. Events are hints, the reading decides: they may be lost, late or old.
 */
export interface Pleg {
  /** Relists until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Reads one pod now. Never rejects: a reading that fails is told to whoever waits on the cache, and tried again by the next relist. */
  refresh(pod: PodName): Promise<void>;
  /**
   * The runtime says that something happened to this container or sandbox. While the node agent changes the pod itself,
   * the reading that follows the change is waited for, but not for long.
   */
  hint(containerId: string, uid?: string): void;
  /** Events are (not) arriving: how often to relist follows from it. */
  setEventDriven(connected: boolean): void;
  /** Healthy while a relist ended within the last 3 minutes. */
  health(): PlegHealth;
  /** What the last readings showed, by UID. */
  pods(): ReadonlyMap<string, RuntimePod>;
}

/** Before its first relist PLEG is merely new; `message` is upstream's. */
type PlegHealth = { state: "starting" } | { state: "healthy" } | { state: "unhealthy"; message: string };

/** In upstream's words; before its first relist nobody knows what a new pod would have to replace. */
export function plegError(health: PlegHealth): string | undefined {
  switch (health.state) {
    case "healthy":
      return undefined;
    case "starting":
      return "PLEG is not healthy: pleg has yet to be successful";
    case "unhealthy":
      return `PLEG is not healthy: ${health.message}`;
  }
}

/** Whom to read, and what to call it. */
export interface PodName {
  uid: string;
  name: string;
  namespace: string;
}

interface PlegDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  cache: PodCache;
  listPods(signal: AbortSignal): Promise<RuntimePod[]>;
  readPodStatus(pod: PodName, signal: AbortSignal): Promise<PodRuntimeStatus>;
  onEvent(event: PodLifecycleEvent): void;
  /** After each complete relist. */
  onRelist(): void;
}

/** How often to relist: the audit behind events, and all there is without them. Upstream: 300 s and 1 s. No cause makes it more often than the shorter. */
export const RELIST_PERIOD_MS = 1_000;
export const RELIST_PERIOD_WITH_EVENTS_MS = 30_000;
export const RELIST_THRESHOLD_MS = 180_000;
/** Pods that one relist reads at once. */
const READ_CONCURRENCY = 8;

export function createPleg(deps: PlegDeps): Pleg {
  const { clock, cache } = deps;
  const metrics = createPlegMetrics(deps.metrics);
  const log = deps.log;
  const records = new Map<string, RuntimePod>();
  /** Pods whose last reading failed: the next relist reads them whatever the lists say. `begun`: that of the ticket. */
  const unread = new Map<string, PodName & { begun: number }>();
  /** What the last lists showed. */
  let listed: ReadonlyMap<string, RuntimePod> = new Map();
  const tasks = createTasks((name, error) => log.error("reading a pod crashed", { name, error: messageOf(error) }));
  const stopping = new AbortController();
  const gone = createGoneIds();
  let eventDriven = false;
  let startedAt = clock.monotonic();
  let lastRelist: number | undefined;
  /** Why the last relist failed. */
  let listFailure: string | undefined;
  /** Something happened after the last lists were asked for that the next must show. */
  let relistWanted = false;
  let nudge: AbortController | undefined;

  const askForRelist = () => {
    relistWanted = true;
    nudge?.abort();
  };

  const remember = (uid: string, pod: RuntimePod | undefined) => {
    const events = diffRuntimePods(records.get(uid), pod);
    for (const { type, id } of events) if (type === "ContainerRemoved") gone.add(id);
    if (pod === undefined) records.delete(uid);
    else records.set(uid, pod);
    for (const event of events) deps.onEvent(event);
  };

  const read = async (pod: PodName, signal: AbortSignal): Promise<void> => {
    hints.begun(pod.uid);
    const ticket = cache.beginRead(pod.uid);
    const startedAt = clock.monotonic();
    try {
      const status = await deps.readPodStatus(pod, signal);
      metrics.podRelistDuration.observe((clock.monotonic() - startedAt) / 1000);
      // What a reading that began later has shown stands, in the cache and in the records alike.
      if (!cache.put(ticket, status)) return;
      // A slow reading that began before the failed one is older than what somebody may be waiting for.
      if ((unread.get(pod.uid)?.begun ?? 0) < ticket.begun) unread.delete(pod.uid);
      remember(pod.uid, snapshotOf(status));
      hints.ended(pod);
    } catch (error) {
      const begun = Math.max(ticket.begun, unread.get(pod.uid)?.begun ?? 0);
      unread.set(pod.uid, { uid: pod.uid, name: pod.name, namespace: pod.namespace, begun });
      cache.fail(ticket, error);
      // A worker may wait for this reading, so that it must not take until the next audit.
      askForRelist();
      if (!isAbort(error)) log.warn("could not read a pod from the runtime", { uid: pod.uid, error: messageOf(error) });
    }
  };

  const hints = createHintedReadings<PodName>({
    clock,
    tasks,
    read: async (pod) => await read(pod, stopping.signal),
    isChanging: (uid) => cache.isOutdated(uid),
  });

  /** Once for an outage, and not with each relist of it. */
  const sayListFailure = (error: string) => {
    if (error === listFailure) log.debug("PLEG: could still not list the runtime's pods", { error });
    else log.error("PLEG: could not list the runtime's pods", { error });
    listFailure = error;
  };

  const relist = async (signal: AbortSignal): Promise<void> => {
    const begun = clock.monotonic();
    relistWanted = false;
    if (lastRelist !== undefined) metrics.relistInterval.observe((begun - lastRelist) / 1000);
    listed = new Map((await deps.listPods(signal)).map((pod) => [pod.uid, pod]));
    // Also a pod that no list shows, when its reading failed: somebody waits to hear that it is not there.
    const changed = new Map<string, PodName>(unread);
    for (const [uid, pod] of [...records, ...listed]) {
      if (diffRuntimePods(records.get(uid), listed.get(uid)).length > 0) changed.set(uid, pod);
    }
    const queue = [...changed.values()];
    const reader = async () => {
      for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) await read(pod, signal);
    };
    await Promise.all(Array.from({ length: READ_CONCURRENCY }, reader));
    lastRelist = clock.monotonic();
    listFailure = undefined;
    metrics.lastSeen.set(clock.now() / 1000);
    metrics.relistDuration.observe((lastRelist - begun) / 1000);
    cache.markComplete();
    deps.onRelist();
  };

  /** The wait between relists; a nudge makes it think again how long that is. */
  const pause = async (signal: AbortSignal): Promise<void> => {
    const begun = clock.monotonic();
    for (;;) {
      const period = eventDriven && !relistWanted ? RELIST_PERIOD_WITH_EVENTS_MS : RELIST_PERIOD_MS;
      const left = begun + period - clock.monotonic();
      if (left <= 0) return;
      const { controller, release } = childController(signal);
      nudge = controller;
      await sleep(clock, left, controller.signal).catch((error: unknown) => {
        if (signal.aborted) throw error;
      });
      nudge = undefined;
      release();
    }
  };

  return {
    async run(signal) {
      startedAt = clock.monotonic();
      signal.addEventListener("abort", () => stopping.abort(), { once: true });
      try {
        while (!signal.aborted) {
          await relist(signal).catch((error: unknown) => {
            if (!isAbort(error)) sayListFailure(messageOf(error));
            relistWanted = true;
          });
          await pause(signal);
        }
      } finally {
        hints.stop();
        await tasks.settled();
      }
    },
    async refresh(pod) {
      await read(pod, stopping.signal);
    },
    hint(containerId, uid) {
      if (gone.has(containerId)) return;
      const pod = uid === undefined ? findPod(records, containerId) : records.get(uid);
      if (pod === undefined) askForRelist();
      else hints.ask(pod);
    },
    setEventDriven(connected) {
      if (connected === eventDriven) return;
      eventDriven = connected;
      // What happened before the events began is in the lists only.
      askForRelist();
    },
    health: () => computeHealth(clock.monotonic() - (lastRelist ?? startedAt), lastRelist !== undefined),
    // A pod that is listed and could not be read is there all the same: whoever cleans up must not take it for gone.
    pods: () => new Map([...listed].filter(([uid]) => unread.has(uid)).concat([...records])),
  };
}

function computeHealth(idleMs: number, hasRelisted: boolean): PlegHealth {
  if (idleMs <= RELIST_THRESHOLD_MS) return { state: hasRelisted ? "healthy" : "starting" };
  const threshold = RELIST_THRESHOLD_MS / 1000;
  const message = `pleg was last seen active ${Math.round(idleMs / 1000)}s ago; threshold is ${threshold}s`;
  return { state: "unhealthy", message };
}

function findPod(records: ReadonlyMap<string, RuntimePod>, containerId: string): RuntimePod | undefined {
  for (const pod of records.values()) {
    const isOf = (item: { id: string }) => item.id === containerId;
    if (pod.containers.some(isOf) || pod.sandboxes.some(isOf)) return pod;
  }
  return undefined;
}
