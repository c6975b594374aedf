import type { Pod } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { aborted, childController } from "../../../base/abort.ts";
import { assert } from "../../../base/assert.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { throwJoined } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Random } from "../../../base/random.ts";
import { createTasks, type Tasks } from "../../../base/tasks.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { createBusyKeys } from "./busy-keys.ts";
import { createDeliverer, DeliveryError } from "./deliver-status.ts";
import type { PodStatuses } from "./pod-statuses.ts";
import { createRetryWaits } from "./retry-waits.ts";
import { createStatusDelivery, type PublishedStatus, type StatusDelivery } from "./status-delivery.ts";

/**
 * Tells the API what the node says of its pods: a patch for each change, the newest status of a pod only, one request
 * at a time for a pod and many pods at once. What fails is tried again for as long as it is wanted. It holds what it was
 * told of a pod until that is gone from the API or forgotten, so whoever owns the pods bounds it.
 */
interface StatusSender {
  /** Sends what is published until the signal fires, and returns when no request is under way. */
  run(signal: AbortSignal): Promise<void>;
  /** The API's copy changed (RECONCILE, a mirror came): compares, and sends again what somebody overwrote. */
  reconcile(uid: string): void;
  /**
   * Nothing of the pod is left on the node: its last status is sent, and then, if it is to be deleted, the API's object
   * (at once, by its UID). Of a static pod the status only; its mirror is others' business.
   */
  finished(pod: Pod): void;
  /**
   * Nothing more is to be sent of the pod: the API does not have it any more. A pod that `finished` deletes is forgotten
   * by itself, and would stay in the API if this were called before.
   */
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
  /** Sends what waits, retries included, in at most `timeoutMs`. While `run` runs, or after it has returned. */
  flush(timeoutMs: number): Promise<void>;
}

/** What a status sender needs of its neighbours. */
interface StatusSenderDeps {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly statuses: Pick<PodStatuses, "get" | "list" | "subscribe">;
  /**
   * The API's pod that shows the node's pod of that UID: itself, or the mirror of a static one; undefined where the API
   * has none (yet). Whenever its answer changes, `reconcile` is to be called.
   */
  apiPodOf(uid: string): Pod | undefined;
  readonly metrics?: Metrics | undefined;
}

interface StatusSenderOptions {
  /** Requests under way at once, all pods together. Default 16. */
  readonly maxConcurrent?: number | undefined;
}

export function createStatusSender(deps: StatusSenderDeps, options: StatusSenderOptions = {}): StatusSender {
  const { client, clock, log, statuses } = deps;
  const retries = createRetryWaits(deps);
  const deliverer = createDeliverer({ client, log, onAnswer: () => retries.wakeAfterOutage() });
  const limiter = createLimiter(options.maxConcurrent ?? 16);
  const syncDuration = deps.metrics && createSyncDuration(deps.metrics);
  const deliveries = new Map<string, StatusDelivery>();
  /** Of these something may have to be sent. */
  const dirty = new Set<string>();
  /** Each of these has a task that takes care of it. */
  const busy = createBusyKeys();
  /** Of these the status may be sent although it is contested: it has waited for that. */
  const contesting = new Set<string>();
  let sending: { signal: AbortSignal; tasks: Tasks } | undefined;

  const deliveryOf = (uid: string): StatusDelivery => {
    const delivery = deliveries.get(uid) ?? createStatusDelivery({ clock, apiPod: () => deps.apiPodOf(uid) });
    deliveries.set(uid, delivery);
    return delivery;
  };

  const advance = async (uid: string, delivery: StatusDelivery, signal: AbortSignal): Promise<void> => {
    const mayContest = contesting.delete(uid);
    const outcome = await limiter.run(async () => await deliverer.deliver(delivery, { mayContest, signal }), signal);
    if (!delivery.isContested) retries.succeed(uid);
    // Unless it was told of something new in this very moment.
    if (outcome === "over" && deliveries.get(uid) === delivery && !dirty.has(uid)) deliveries.delete(uid);
    const latencyMs = outcome === "untold" ? undefined : delivery.takeLatencyMs();
    if (latencyMs !== undefined) syncDuration?.observe(latencyMs / SECOND);
  };

  const pauseAfter = async (uid: string, error: unknown, signal: AbortSignal): Promise<void> => {
    dirty.add(uid);
    if (!(error instanceof DeliveryError)) throw error;
    if (!deliveries.has(uid)) return;
    const isFirst = !retries.isFailing(uid);
    const { name, namespace } = podReference(deps.apiPodOf(uid) ?? {});
    log[isFirst ? "warn" : "debug"](error.message, { pod: name, namespace, uid });
    await retries.wait(uid, { isOutage: error.code === "unreachable" }, signal);
    if (error.code === "contested" && deliveries.has(uid)) contesting.add(uid);
  };

  /** One at a time for each pod. */
  const drive = async (uid: string, signal: AbortSignal): Promise<void> => {
    try {
      while (dirty.delete(uid)) {
        const delivery = deliveries.get(uid);
        if (delivery === undefined) return;
        await advance(uid, delivery, signal).catch((error: unknown) => pauseAfter(uid, error, signal));
      }
    } finally {
      busy.end(uid);
    }
  };

  const kick = (uid: string): void => {
    dirty.add(uid);
    if (sending === undefined || sending.signal.aborted || !busy.begin(uid)) return;
    const { signal, tasks } = sending;
    tasks.spawn(`sending the status of pod ${uid}`, async () => await drive(uid, signal));
  };

  const note = (published: PublishedStatus): void => {
    const uid = podUid(published.pod);
    const delivery = deliveryOf(uid);
    // What is new need not wait for what was contested.
    if (delivery.isContested) retries.forget(uid);
    delivery.publish(published);
    kick(uid);
  };

  /** Sends until the signal fires or `work` is done, and returns when no request is under way. */
  const send = async (signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    assert(sending === undefined, "statuses are sent by one at a time");
    const { controller, release } = childController(signal);
    const crashes: unknown[] = [];
    const tasks = createTasks((_name, error) => {
      crashes.push(error);
      controller.abort();
    });
    sending = { signal: controller.signal, tasks };
    try {
      for (const published of statuses.list()) note(published);
      for (const uid of [...dirty]) kick(uid);
      await work(controller.signal);
    } finally {
      controller.abort();
      await tasks.settled();
      release();
      sending = undefined;
    }
    throwJoined(crashes, "sending statuses");
  };

  return {
    async run(signal) {
      const unsubscribe = statuses.subscribe(note);
      try {
        await send(signal, aborted);
      } finally {
        unsubscribe();
      }
    },
    reconcile(uid) {
      if (!deliveries.has(uid)) {
        const published = statuses.list().find(({ pod }) => podUid(pod) === uid);
        if (published === undefined) return;
        deliveryOf(uid).publish(published);
      }
      retries.wakeAfterOutage();
      kick(uid);
    },
    finished(pod) {
      const uid = podUid(pod);
      const status = statuses.get(uid);
      const delivery = deliveryOf(uid);
      if (status !== undefined) delivery.publish({ pod, status });
      delivery.finish(pod);
      kick(uid);
    },
    forget(uid) {
      deliveries.get(uid)?.drop();
      deliveries.delete(uid);
      dirty.delete(uid);
      contesting.delete(uid);
      retries.forget(uid);
    },
    podUids: () => [...new Set([...deliveries.keys(), ...dirty, ...contesting])],
    async flush(timeoutMs) {
      const stop = new AbortController();
      const timer = clock.setTimer(timeoutMs, () => stop.abort());
      try {
        if (sending === undefined) {
          await send(stop.signal, busy.untilIdle);
        } else {
          retries.wakeAll();
          await busy.untilIdle(stop.signal);
        }
      } finally {
        timer.cancel();
      }
    },
  };
}

function createSyncDuration(metrics: Metrics) {
  return metrics.histogram(
    "kubelet_pod_status_sync_duration_seconds",
    "Duration in seconds to sync a pod status update. Measures time from detection of a change to pod status until the API is successfully updated for that pod, even if multiple intevening changes to pod status occur.",
    { buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60] },
  );
}
