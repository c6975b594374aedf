import type { Pod } from "../../../../api/gen/types.ts";
import { podReference, podUid } from "../../../../api/pods.ts";
import { aborted } from "../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import { createLimiter } from "../../../../base/limiter.ts";
import type { Log } from "../../../../base/log.ts";
import type { Metrics } from "../../../../base/metrics.ts";
import type { Random } from "../../../../base/random.ts";
import type { KubeClient } from "../../../../kube/port.ts";
import type { PodStatuses, PublishedStatus } from "../pod-statuses.ts";
import { createPodReport, type PodReport } from "./pod-report.ts";
import { createReportQueue } from "./report-queue.ts";
import type { FirstReportEvent } from "./report-state.ts";
import { createRetryWaits } from "./retry-waits.ts";
import { createReportSender, ReportError } from "./send-report.ts";

/**
 * Tells the API server what the node says of its pods: a patch for each change, the newest status of a pod only, one
 * request at a time for a pod and many pods at once. A request that fails is tried again for as long as it is wanted.
 * The reporter holds a pod's report until the pod is gone from the API server or forgotten, so that the owner of the
 * pods bounds it.
 */
interface StatusReporter {
  /** Sends what is published until the signal fires, and returns when no request is under way. */
  run(signal: AbortSignal): Promise<void>;
  /** The API server's pod changed (RECONCILE, a mirror came): compares, and sends again what somebody overwrote. */
  reconcile(uid: string): void;
  /**
   * Nothing of the pod is left on the node: its last status is sent, and then, if it is to be deleted, the API server's
   * object is deleted (at once, by its UID). A static pod's mirror is not deleted here.
   */
  finished(pod: Pod): void;
  /**
   * Nothing more is to be sent of the pod: the API server does not have it any more. A pod that `finished` deletes is
   * forgotten by itself, and would stay in the API server if this were called before.
   */
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
  /** Sends what waits, retries included, in at most `timeoutMs`. While `run` runs, or after it has returned. */
  flush(timeoutMs: number): Promise<void>;
}

/** What a status reporter needs of its neighbours. */
interface StatusReporterDeps {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly statuses: Pick<PodStatuses, "get" | "list" | "subscribe">;
  /**
   * The API server's pod that shows the node's pod of that UID: itself, or the mirror of a static one; undefined where
   * the API server has none (yet). Whenever its answer changes, `reconcile` is to be called.
   */
  apiPodOf(uid: string): Pod | undefined;
  readonly metrics?: Metrics | undefined;
}

interface StatusReporterOptions {
  /** Requests under way at once, all pods together. Default 16. */
  readonly maxConcurrent?: number | undefined;
}

export function createStatusReporter(deps: StatusReporterDeps, options: StatusReporterOptions = {}): StatusReporter {
  const { client, clock, log, statuses } = deps;
  const retries = createRetryWaits(deps);
  const sender = createReportSender({ client, log, onAnswer: () => retries.wakeAfterOutage() });
  const limiter = createLimiter(options.maxConcurrent ?? 16);
  const syncDuration = deps.metrics && createSyncDuration(deps.metrics);
  const reports = new Map<string, PodReport>();

  const note = (uid: string, event: FirstReportEvent): void => {
    const report = reports.get(uid);
    if (report !== undefined) report.note(event);
    else reports.set(uid, createPodReport({ clock, apiPod: () => deps.apiPodOf(uid) }, event));
  };

  const send = async (uid: string, report: PodReport, options: SendOptions): Promise<void> => {
    const outcome = await limiter.run(async () => await sender.send(report, options), options.signal);
    if (!report.isContested) retries.succeed(uid);
    // A report that was told of something new in this very moment is not over.
    if (outcome === "over" && reports.get(uid) === report && !queue.isDue(uid)) reports.delete(uid);
    const latencyMs = outcome === "untold" ? undefined : report.takeLatencyMs();
    if (latencyMs !== undefined) syncDuration?.observe(latencyMs / SECOND);
  };

  /** Waits after a failure. True where it waited to send a contested status. */
  const pauseAfter = async (uid: string, error: unknown, signal: AbortSignal): Promise<boolean> => {
    queue.add(uid);
    if (!(error instanceof ReportError)) throw error;
    if (!reports.has(uid)) return false;
    const isFirst = !retries.isFailing(uid);
    const { name, namespace } = podReference(deps.apiPodOf(uid) ?? {});
    log[isFirst ? "warn" : "debug"](error.message, { pod: name, namespace, uid });
    await retries.wait(uid, { isOutage: error.code === "unreachable" }, signal);
    return error.code === "contested" && reports.has(uid);
  };

  const queue = createReportQueue(async ({ uid, signal, take }) => {
    let mayContest = false;
    while (take()) {
      const report = reports.get(uid);
      if (report === undefined) return;
      mayContest = await send(uid, report, { mayContest, signal }).then(
        () => false,
        async (error: unknown) => await pauseAfter(uid, error, signal),
      );
    }
  });

  const publish = (published: PublishedStatus): void => {
    const uid = podUid(published.pod);
    // What is new need not wait for what was contested.
    if (reports.get(uid)?.isContested) retries.forget(uid);
    note(uid, { type: "published", published });
    queue.add(uid);
  };

  const serve = async (signal: AbortSignal, until: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    await queue.serve(signal, async (own) => {
      for (const published of statuses.list()) publish(published);
      queue.startDue();
      await until(own);
    });
  };

  return {
    async run(signal) {
      const unsubscribe = statuses.subscribe(publish);
      try {
        await serve(signal, aborted);
      } finally {
        unsubscribe();
      }
    },
    reconcile(uid) {
      if (!reports.has(uid)) {
        const published = statuses.list().find(({ pod }) => podUid(pod) === uid);
        if (published === undefined) return;
        note(uid, { type: "published", published });
      }
      retries.wakeAfterOutage();
      queue.add(uid);
    },
    finished(pod) {
      const uid = podUid(pod);
      const status = statuses.get(uid);
      if (status !== undefined) note(uid, { type: "published", published: { pod, status, mayRun: false } });
      note(uid, { type: "finished", pod });
      queue.add(uid);
    },
    forget(uid) {
      reports.get(uid)?.note({ type: "forgotten" });
      reports.delete(uid);
      queue.remove(uid);
      retries.forget(uid);
    },
    podUids: () => [...new Set([...reports.keys(), ...queue.uids()])],
    async flush(timeoutMs) {
      const stop = new AbortController();
      const timer = clock.setTimer(timeoutMs, () => stop.abort());
      try {
        if (!queue.isServed) {
          await serve(stop.signal, queue.untilIdle);
        } else {
          retries.wakeAll();
          await queue.untilIdle(stop.signal);
        }
      } finally {
        timer.cancel();
      }
    },
  };
}

interface SendOptions {
  readonly mayContest: boolean;
  readonly signal: AbortSignal;
}

function createSyncDuration(metrics: Metrics) {
  return metrics.histogram(
    "kubelet_pod_status_sync_duration_seconds",
    "Duration in seconds to sync a pod status update. Measures time from detection of a change to pod status until the API is successfully updated for that pod, even if multiple intevening changes to pod status occur.",
    { buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60] },
  );
}
