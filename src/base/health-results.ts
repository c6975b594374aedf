import { createMetrics, declareStartTime } from "./metrics.ts";

/** What health checks found, as series: the page `/metrics/slis` of Kubernetes' programs. */
export interface HealthResults {
  /** Notes what a check found when somebody asked for the page of all checks, `healthz`, `livez` or `readyz`. */
  note(result: { readonly name: string; readonly type: string; readonly isWell: boolean }): void;
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Creates the series of a process that was started then, in milliseconds since the epoch. */
export function createHealthResults(startedAt: number): HealthResults {
  const metrics = createMetrics();
  const latest = metrics.gauge("kubernetes_healthcheck", "This metric records the result of a single healthcheck.", [
    "name",
    "type",
  ]);
  const total = metrics.counter(
    "kubernetes_healthchecks_total",
    "This metric records the results of all healthcheck.",
    ["name", "type", "status"],
  );
  declareStartTime(metrics, startedAt);
  return {
    note({ name, type, isWell }) {
      latest.set(isWell ? 1 : 0, { name, type });
      total.add({ name, type, status: isWell ? "success" : "error" });
    },
    render: async () => ({ contentType: metrics.contentType, body: await metrics.render() }),
  };
}
