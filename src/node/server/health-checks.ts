import { createMetrics, declareStartTime } from "../../base/metrics.ts";
import type { Page, PageRequest } from "../../host/http-server.ts";

/** Returns the reason why something is not healthy, or undefined if it is healthy. */
type HealthCheck = () => string | undefined;

/** The pages at and below `/healthz`, and `/metrics/slis`, which counts the results of the checks. */
export interface HealthChecks {
  /** Returns the page of a path. The result is undefined for any other path. */
  find(path: string): ((request: PageRequest) => Promise<Page> | Page) | undefined;
}

const ROOT = "/healthz";

/**
 * Creates the pages like upstream's healthz of k8s.io/apiserver. The root runs all checks except those that `exclude`
 * names. It answers only `ok` unless `verbose` is asked for or a check fails, and it withholds the reasons. Below the
 * root each check has a page of its own that gives the reason. `startedAt` is the start time of the process, in
 * milliseconds since the epoch.
 */
export function createHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  { startedAt }: { readonly startedAt: number },
): HealthChecks {
  const metrics = createMetrics();
  const observe = declareResults(metrics);
  declareStartTime(metrics, startedAt);

  const askAll = ({ query }: PageRequest): Page => {
    const excluded = new Set(query.getAll("exclude"));
    const failed: string[] = [];
    const lines = Object.entries(checks).map(([name, check]) => {
      if (excluded.delete(name)) return `[+]${name} excluded: ok\n`;
      const isWell = check() === undefined;
      observe(name, isWell);
      if (!isWell) failed.push(name);
      return isWell ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
    });
    if (excluded.size > 0) {
      const unknown = [...excluded].sort().map((name) => JSON.stringify(name));
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(",")}\n`);
    }
    if (failed.length > 0) return { status: 500, body: `${lines.join("")}healthz check failed\n` };
    return { status: 200, body: query.has("verbose") ? `${lines.join("")}healthz check passed\n` : "ok" };
  };

  return {
    find(path) {
      if (path === ROOT) return askAll;
      if (path === "/metrics/slis") {
        const headers = { "content-type": metrics.contentType };
        return async () => ({ status: 200, headers, body: await metrics.render() });
      }
      const name = path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1) : "";
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      return check && (() => answerOf(check()));
    },
  };
}

function answerOf(error: string | undefined): Page {
  return error === undefined ? { status: 200, body: "ok" } : { status: 500, body: `internal server error: ${error}\n` };
}

function declareResults(metrics: ReturnType<typeof createMetrics>): (name: string, isWell: boolean) => void {
  const latest = metrics.gauge("kubernetes_healthcheck", "This metric records the result of a single healthcheck.", [
    "name",
    "type",
  ]);
  const total = metrics.counter(
    "kubernetes_healthchecks_total",
    "This metric records the results of all healthcheck.",
    ["name", "type", "status"],
  );
  return (name, isWell) => {
    const labels = { name, type: "healthz" };
    latest.set(isWell ? 1 : 0, labels);
    total.add({ ...labels, status: isWell ? "success" : "error" });
  };
}
