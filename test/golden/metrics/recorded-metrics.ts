import type { Metrics } from "../../../src/base/metrics.ts";

/** A series as it was declared; what was counted of it does not matter here. */
export interface DeclaredSeries {
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
}

/** The same registry, with what is declared on it noted, by name. */
export function recordDeclarations(metrics: Metrics): { metrics: Metrics; declared: Map<string, DeclaredSeries> } {
  const declared = new Map<string, DeclaredSeries>();
  const note = (name: string, type: DeclaredSeries["type"], labels: readonly string[]) =>
    declared.set(name, { type, labels: [...labels].sort() });
  return {
    declared,
    metrics: {
      ...metrics,
      counter(name, help, labels) {
        note(name, "counter", labels ?? []);
        return metrics.counter(name, help, labels);
      },
      gauge(name, help, labels) {
        note(name, "gauge", labels ?? []);
        return metrics.gauge(name, help, labels);
      },
      histogram(name, help, options) {
        note(name, "histogram", options?.labels ?? []);
        return metrics.histogram(name, help, options);
      },
    },
  };
}
