import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";

/** What came of an attempt to place a pod. */
type AttemptResult = "scheduled" | "unschedulable" | "error";

/** A pod that was placed. */
interface PlacedAttempts {
  /** How often that was tried. */
  readonly attempts: number;
  /** How long that took since the pod came, in seconds. */
  readonly seconds: number;
}

/** Counts the scheduler's attempts. */
interface SchedulerMetrics {
  /** Begins an attempt. `decided` is when its decision is made, the rest is binding. */
  begin(): { decided(): void; end(result: AttemptResult): void };
  placed(pod: PlacedAttempts): void;
  /** A pod fits nowhere as it is: so many others are to be sent away for it, if any. */
  unfit(victims: number): void;
}

/** The pods that wait, by why they do. */
export interface PendingCounts {
  readonly active: number;
  readonly backoff: number;
  readonly unschedulable: number;
}

const PROFILE = { profile: "default-scheduler" };
/** The longest attempts are told apart up to 16 seconds, as by upstream. */
const powersOfTwo = (first: number, count: number) => Array.from({ length: count }, (_, power) => first * 2 ** power);
/** Pods that were tried so often or more are counted together. */
const MANY_ATTEMPTS = 15;

/** Declares upstream's series of the scheduler (`pkg/scheduler/metrics`). */
export function createSchedulerMetrics(
  metrics: Metrics,
  clock: Pick<Clock, "monotonic">,
  readPending: () => PendingCounts,
): SchedulerMetrics {
  const labels = ["result", "profile"] as const;
  const help = "Number of attempts to schedule pods, by the result.";
  const attempts = metrics.counter("scheduler_schedule_attempts_total", help, labels);
  const durations = metrics.histogram(
    "scheduler_scheduling_attempt_duration_seconds",
    "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
    { labels, buckets: powersOfTwo(0.001, 15) },
  );
  const decisions = metrics.histogram(
    "scheduler_scheduling_algorithm_duration_seconds",
    "Scheduling algorithm latency in seconds",
    { buckets: powersOfTwo(0.001, 15) },
  );
  const tries = metrics.histogram(
    "scheduler_pod_scheduling_attempts",
    "Number of attempts to successfully schedule a pod.",
    { buckets: powersOfTwo(1, 5) },
  );
  const waits = metrics.histogram(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue.",
    { labels: ["attempts"], buckets: powersOfTwo(0.01, 20) },
  );
  const preemptions = metrics.counter("scheduler_preemption_attempts_total", "Total preemption attempts till now");
  const victims = metrics.histogram("scheduler_preemption_victims", "Number of selected preemption victims", {
    buckets: powersOfTwo(1, 7),
  });
  const pending = metrics.gauge("scheduler_pending_pods", "Number of pending pods, by the queue type.", ["queue"]);
  metrics.beforeRender(() => {
    for (const [queue, count] of Object.entries(readPending())) pending.set(count, { queue });
  });

  return {
    begin() {
      const since = clock.monotonic();
      const seconds = () => (clock.monotonic() - since) / 1000;
      return {
        decided: () => decisions.observe(seconds()),
        end(result) {
          attempts.add({ result, ...PROFILE });
          durations.observe(seconds(), { result, ...PROFILE });
        },
      };
    },
    placed({ attempts: count, seconds }) {
      tries.observe(count);
      waits.observe(seconds, { attempts: count < MANY_ATTEMPTS ? String(count) : `${MANY_ATTEMPTS}+` });
    },
    unfit(count) {
      preemptions.add();
      if (count > 0) victims.observe(count);
    },
  };
}
