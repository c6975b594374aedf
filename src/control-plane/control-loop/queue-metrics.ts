import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";

/** Counts what becomes of the keys of one queue. */
interface QueueObserver {
  /** The key is in line now; it may have been before. */
  added(key: string): void;
  started(key: string): void;
  ended(key: string): void;
  /** The key is to be added later. */
  deferred(): void;
}

/** The series of all queues, in which each has its own by its name. */
export interface QueueMetrics {
  observe(name: string): QueueObserver;
}

/** Nobody wants to know. */
export const UNOBSERVED: QueueObserver = { added() {}, started() {}, ended() {}, deferred() {} };

/** From a hundred-millionth of a second to ten. */
const BUCKETS = Array.from({ length: 10 }, (_, power) => 1e-8 * 10 ** power);

/** Declares upstream's series of work queues (`component-base/metrics/prometheus/workqueue`). */
export function createQueueMetrics(metrics: Metrics, clock: Pick<Clock, "monotonic">): QueueMetrics {
  const labels = ["name"] as const;
  const histogram = { labels, buckets: BUCKETS };
  const adds = metrics.counter("workqueue_adds_total", "Total number of adds handled by workqueue", labels);
  const retries = metrics.counter("workqueue_retries_total", "Total number of retries handled by workqueue", labels);
  const waits = metrics.histogram(
    "workqueue_queue_duration_seconds",
    "How long in seconds an item stays in workqueue before being requested.",
    histogram,
  );
  const works = metrics.histogram(
    "workqueue_work_duration_seconds",
    "How long in seconds processing an item from workqueue takes.",
    histogram,
  );
  const queues = new Map<string, QueueTimes>();
  reportCurrent(metrics, clock, queues);

  return {
    observe(name) {
      const times: QueueTimes = queues.get(name) ?? { waiting: new Map(), running: new Map() };
      queues.set(name, times);
      const { waiting, running } = times;
      const secondsSince = (since: number) => (clock.monotonic() - since) / 1000;
      return {
        added(key) {
          if (waiting.has(key)) return;
          waiting.set(key, clock.monotonic());
          adds.add({ name });
        },
        started(key) {
          const since = waiting.get(key);
          waiting.delete(key);
          if (since !== undefined) waits.observe(secondsSince(since), { name });
          running.set(key, clock.monotonic());
        },
        ended(key) {
          const since = running.get(key);
          running.delete(key);
          if (since !== undefined) works.observe(secondsSince(since), { name });
        },
        deferred: () => retries.add({ name }),
      };
    },
  };
}

/** The keys of a queue with when they came into line, or began to be worked on, by the monotonic clock. */
interface QueueTimes {
  readonly waiting: Map<string, number>;
  readonly running: Map<string, number>;
}

/** Reports what holds at the moment at which somebody reads. */
function reportCurrent(
  metrics: Metrics,
  clock: Pick<Clock, "monotonic">,
  queues: ReadonlyMap<string, QueueTimes>,
): void {
  const labels = ["name"] as const;
  const depth = metrics.gauge("workqueue_depth", "Current depth of workqueue", labels);
  const unfinished = metrics.gauge(
    "workqueue_unfinished_work_seconds",
    "How many seconds of work is in progress that has not been observed by work_duration.",
    labels,
  );
  const longest = metrics.gauge(
    "workqueue_longest_running_processor_seconds",
    "How many seconds has the longest running processor for workqueue been running.",
    labels,
  );
  metrics.beforeRender(() => {
    const now = clock.monotonic();
    for (const [name, { waiting, running }] of queues) {
      const seconds = [...running.values()].map((since) => (now - since) / 1000);
      // A key that is worked on and was added again is not in line until that work has ended.
      depth.set([...waiting.keys()].filter((key) => !running.has(key)).length, { name });
      unfinished.set(
        seconds.reduce((sum, each) => sum + each, 0),
        { name },
      );
      longest.set(Math.max(0, ...seconds), { name });
    }
  });
}
