import type { PodReference } from "../../../api/pods.ts";
import { childController, isAbort, sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { createTasks } from "../../../base/tasks.ts";
import type { PodItems, PodRuntimeStatus, RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import { createHintedReadings } from "./hinted-readings.ts";
import { type PodLifecycleEvent, snapshotOf } from "./lifecycle-events.ts";
import { createPlegMetrics } from "./metrics.ts";
import type { PodCache } from "./pod-cache.ts";
import { createPodRecords } from "./pod-records.ts";
import {
  computePauseMs,
  computePlegHealth,
  initialRelist,
  nextRelist,
  type PlegHealth,
  type RelistEvent,
} from "./relist-state.ts";

/**
 * The pod life cycle event generator: keeps the pod cache true and tells the loop which pods changed.
 *
 * Three things make it read: the node agent's own call changed a pod (`refresh`), the runtime sent an event (`hint`),
 * and the relist, which reads the lists of everything. Events are hints, the reading decides: they may be lost, late or
 * old.
 */
export interface Pleg {
  /** Relists until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Reads one pod now. Never rejects: those who wait on the cache are told of a reading that fails, and the next relist
   * tries it again. `items`: all that there is of the pod, where that is known; an event of something else of the pod
   * makes the reading ask the runtime's lists nevertheless.
   */
  refresh(pod: PodReference, items?: PodItems): Promise<void>;
  /**
   * The runtime says that something happened to this container or sandbox. While the node agent changes the pod itself,
   * the reading that follows the change is waited for, but not for long.
   */
  hint(containerId: string, uid?: string): void;
  /** Events are (not) arriving: how often to relist follows from it. */
  setEventDriven(connected: boolean): void;
  /** Healthy while a relist ended within the last 3 minutes. */
  health(): PlegHealth;
  /** The pods that the last readings showed, by UID. */
  pods(): ReadonlyMap<string, RuntimePod>;
  /** The listener is called after each complete relist. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** PLEG's health in upstream's words; before its first relist it is not known what a new pod would have to replace. */
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

interface PlegDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  cache: PodCache;
  listPods(signal: AbortSignal): Promise<RuntimePod[]>;
  /** With `items` the lists are not asked what there is of the pod. */
  readPodStatus(
    reading: { pod: PodReference; items: PodItems | undefined },
    signal: AbortSignal,
  ): Promise<PodRuntimeStatus>;
  onEvent(event: PodLifecycleEvent): void;
}

/** What was known of a pod before its reading. */
interface KnownPod {
  /** All that there is of it; undefined: the lists are to be asked. */
  readonly items?: PodItems | undefined;
  /** The cache's mark from before `items` were read. Default: nobody can have changed anything since. */
  readonly since?: number;
}

/** How many pods a relist reads at once. */
const READ_CONCURRENCY = 8;

export function createPleg(deps: PlegDeps): Pleg {
  const { clock, cache, log } = deps;
  const metrics = createPlegMetrics(deps.metrics);
  const records = createPodRecords();
  const tasks = createTasks((name, error) => log.error("reading a pod crashed", { name, error: messageOf(error) }));
  const stopping = new AbortController();
  const listeners = new Set<() => void>();
  /** Pods of which an event named something that no reading has shown yet. */
  const unlisted = new Set<string>();
  let state = initialRelist(clock.monotonic());
  /** Ends the sleep of the pause under way. */
  let pause = new AbortController();

  const note = (event: RelistEvent): void => {
    state = nextRelist(state, event, clock.monotonic());
  };
  /** How long the pause is may have changed: the sleep ends, and the pause is measured again. */
  const noteInPause = (event: RelistEvent): void => {
    note(event);
    pause.abort();
  };

  const read = async (pod: PodReference, signal: AbortSignal, known: KnownPod = {}): Promise<void> => {
    const isHinted = hints.begun(pod.uid);
    const items = unlisted.delete(pod.uid) ? undefined : isHinted ? withoutReady(known.items) : known.items;
    const ticket = cache.beginRead(pod.uid, items && known.since);
    const startedAt = clock.monotonic();
    try {
      const status = await deps.readPodStatus({ pod, items }, signal);
      metrics.podRelistDuration.observe((clock.monotonic() - startedAt) / 1000);
      // What a reading that began later has shown stands, in the cache and in the records alike.
      if (!cache.put(ticket, status)) return;
      for (const event of records.read(pod, ticket.begun, snapshotOf(status))) deps.onEvent(event);
      hints.ended(pod);
    } catch (error) {
      records.readFailed(pod, ticket.begun);
      cache.fail(ticket, error);
      // A worker may wait for this reading, so that it must not take until the next audit.
      noteInPause({ type: "wanted" });
      if (!isAbort(error)) log.warn("could not read a pod from the runtime", { uid: pod.uid, error: messageOf(error) });
    }
  };

  const hints = createHintedReadings({
    clock,
    tasks,
    read: async (pod) => await read(pod, stopping.signal),
    isChanging: (uid) => cache.isOutdated(uid),
  });

  const relist = async (signal: AbortSignal): Promise<void> => {
    const begun = clock.monotonic();
    const { completedAtMs } = state;
    note({ type: "began" });
    // What a pod's worker makes from here on, the lists may not show.
    const since = cache.mark();
    if (completedAtMs !== undefined) metrics.relistInterval.observe((begun - completedAtMs) / 1000);
    const changed = records.list(await deps.listPods(signal));
    // Each pod of a burst differs from what is known while it starts or ends. Its worker reads it when that is over.
    const isLeft = ({ pod, isUnread }: (typeof changed)[number]) => !isUnread && cache.isOutdated(pod.uid);
    for (const { pod } of changed.filter(isLeft)) hints.leave(pod);
    const queue = changed.filter((listed) => !isLeft(listed));
    const reader = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await read(next.pod, signal, { items: next.items, since });
      }
    };
    await Promise.all(Array.from({ length: READ_CONCURRENCY }, reader));
    note({ type: "ended" });
    metrics.lastSeen.set(clock.now() / 1000);
    metrics.relistDuration.observe((clock.monotonic() - begun) / 1000);
    cache.markComplete();
    for (const listener of [...listeners]) listener();
  };

  const noteFailure = (thrown: unknown): void => {
    const error = isAbort(thrown) ? undefined : messageOf(thrown);
    // An outage is an error once, and not with each of its relists.
    if (error !== undefined && error === state.failure) {
      log.debug("PLEG: could still not list the runtime's pods", { error });
    } else if (error !== undefined) {
      log.error("PLEG: could not list the runtime's pods", { error });
    }
    note({ type: "failed", error });
  };

  /** The wait between relists. */
  const sleepUntilDue = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const left = computePauseMs(state, clock.monotonic());
      if (left === undefined || left <= 0) return;
      const { controller, release } = childController(signal);
      pause = controller;
      await sleep(clock, left, controller.signal).catch((error: unknown) => {
        if (signal.aborted) throw error;
      });
      release();
    }
  };

  return {
    async run(signal) {
      note({ type: "started" });
      signal.addEventListener("abort", () => stopping.abort(), { once: true });
      try {
        while (!signal.aborted) {
          await relist(signal).catch(noteFailure);
          await sleepUntilDue(signal);
        }
      } finally {
        hints.stop();
        await tasks.settled();
      }
    },
    async refresh(pod, items) {
      await read(pod, stopping.signal, { items });
    },
    hint(containerId, uid) {
      const pod = records.find(containerId, uid);
      if (pod === "gone") return;
      if (pod === undefined) noteInPause({ type: "wanted" });
      else {
        if (!hasItem(pod, containerId)) unlisted.add(pod.uid);
        hints.ask(pod);
      }
    },
    setEventDriven: (connected) => noteInPause({ type: "events", arrive: connected }),
    health: () => computePlegHealth(state, clock.monotonic()),
    pods: records.pods,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** What happened to the pod may be the end of a sandbox that was ready when it was asked. One that has ended stays so. */
function withoutReady(items: PodItems | undefined): PodItems | undefined {
  if (items === undefined) return undefined;
  const sandboxes = items.sandboxes.map((item) => (item.status?.state === "ready" ? { id: item.id } : item));
  return { ...items, sandboxes };
}

function hasItem({ sandboxes, containers }: RuntimePod, id: string): boolean {
  return [...sandboxes, ...containers].some((item) => item.id === id);
}
