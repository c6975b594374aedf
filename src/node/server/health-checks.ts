import { createHealthResults } from "../../base/health-results.ts";
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
  const results = createHealthResults(startedAt);

  const askAll = ({ query }: PageRequest): Page => {
    const excluded = new Set(query.getAll("exclude"));
    const failed: string[] = [];
    const lines = Object.entries(checks).map(([name, check]) => {
      if (excluded.delete(name)) return `[+]${name} excluded: ok\n`;
      const isWell = check() === undefined;
      results.note({ name, type: "healthz", isWell });
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
        return async () => {
          const { contentType, body } = await results.render();
          return { status: 200, headers: { "content-type": contentType }, body };
        };
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
