import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** A registry of Prometheus series. Each folder declares its own series on it; `render` is the text of `/metrics`. */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): CounterSeries<L>;
  gauge<L extends string = never>(name: string, help: string, labels?: readonly L[]): GaugeSeries<L>;
  histogram<L extends string = never>(
    name: string,
    help: string,
    options?: { labels?: readonly L[]; buckets?: readonly number[] },
  ): HistogramSeries<L>;
  /**
   * `update` is called before each page is made, to set values that are only needed then. It must be quick and must not
   * throw.
   */
  beforeRender(update: () => void): void;
  render(): Promise<string>;
  readonly contentType: string;
}

type Labels<L extends string> = Readonly<Record<L, string>>;

/** A series that only goes up. */
export interface CounterSeries<L extends string> {
  add(labels?: Labels<L>, by?: number): void;
  /** Forgets the series with these labels, for when the object that they name is gone. */
  remove(labels: Labels<L>): void;
}

/** A series that holds the last value that was set. */
export interface GaugeSeries<L extends string> {
  set(value: number, labels?: Labels<L>): void;
  /**
   * Forgets every set of labels, so that objects that are gone are no longer reported. A gauge without labels goes back
   * to 0.
   */
  reset(): void;
}

export interface HistogramSeries<L extends string> {
  /** `value` is in the unit that the name tells, which for durations is seconds. */
  observe(value: number, labels?: Labels<L>): void;
  /** Forgets the series with these labels, for when the object that they name is gone. */
  remove(labels: Labels<L>): void;
}

/** client-go's default buckets, in seconds, which most kubelet series use. */
const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const updates: Array<() => void> = [];
  return {
    counter(name, help, labels = []) {
      const series = new Counter({ name, help, labelNames: [...labels], registers: [registry] });
      return {
        add: (values, by = 1) => (values ? series.inc(values, by) : series.inc(by)),
        remove: (values) => series.remove(values),
      };
    },
    gauge(name, help, labels = []) {
      const series = new Gauge({ name, help, labelNames: [...labels], registers: [registry] });
      return {
        set: (value, values) => (values ? series.set(values, value) : series.set(value)),
        reset: () => series.reset(),
      };
    },
    histogram(name, help, { labels = [], buckets = DEFAULT_BUCKETS } = {}) {
      const series = new Histogram({
        name,
        help,
        labelNames: [...labels],
        buckets: [...buckets],
        registers: [registry],
      });
      return {
        observe: (value, values) => (values ? series.observe(values, value) : series.observe(value)),
        remove: (values) => series.remove(values),
      };
    },
    beforeRender: (update) => updates.push(update),
    async render() {
      for (const update of updates) update();
      return await registry.metrics();
    },
    contentType: registry.contentType,
  };
}

/**
 * Pages that are read separately declare it, so that their reader knows when the counters began anew. `startedAt` is in
 * milliseconds since the epoch.
 */
export function declareStartTime(metrics: Metrics, startedAt: number): void {
  const help = "Start time of the process since unix epoch in seconds.";
  metrics.gauge("process_start_time_seconds", help).set(startedAt / 1000);
}
