import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { HealthResults } from "../../base/health-results.ts";
import type { Log } from "../../base/log.ts";
import { withDeadline } from "../../base/time-limit.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import type { HealthCheck } from "../ports/health-check.ts";
import type { ObjectStore } from "../ports/object-store.ts";

/**
 * The checks that pass whenever the API server answers at all. Upstream's `log` fails when writing the log hangs; here the
 * log is written before the next request is looked at, so that nobody gets an answer then.
 */
export const ANSWERING_CHECKS: readonly HealthCheck[] = [
  { name: "ping", check: () => undefined },
  { name: "log", check: () => undefined },
];

const DISK_TIMEOUT_MS = 2_000;

/**
 * Whether the disk answers in time what has been written so far: `etcd`, and `etcd-readiness` beside it. That a write is
 * refused, for want of room, is an answer: reads go on, and starting this process again would mend nothing.
 */
export function createStoreChecks(
  store: Pick<ObjectStore, "headRevision" | "untilDurable">,
  clock: Pick<Clock, "setTimer">,
): readonly HealthCheck[] {
  const { signal } = new AbortController();
  const check = async () => {
    const limit = { timeoutMs: DISK_TIMEOUT_MS, signal, what: "writing to the disk" };
    const untilAnswered = async () => {
      await store.untilDurable(store.headRevision).catch(() => undefined);
    };
    try {
      await withDeadline(clock, limit, untilAnswered);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  return [
    { name: "etcd", check },
    { name: "etcd-readiness", isForReadiness: true, check },
  ];
}

interface HealthDeps {
  healthChecks: readonly HealthCheck[];
  healthResults: HealthResults;
  log: Pick<Log, "debug">;
}

/** Where the checks are served: each under its name, and all of them in one answer. */
const PATH = /^\/(healthz|livez|readyz)(?:\/(.+))?$/;

/** Answers requests for health checks; undefined for other paths. */
export async function answerHealth(
  deps: HealthDeps,
  request: Pick<ServedRequest, "query">,
  path: string,
): Promise<ServedAnswer | undefined> {
  const [, endpoint, only] = PATH.exec(path) ?? [];
  if (endpoint === undefined) return undefined;
  const asked = deps.healthChecks.filter(({ isForReadiness }) => endpoint === "readyz" || isForReadiness !== true);
  if (only === undefined) return await answerAll(deps, asked, { endpoint, query: request.query });
  const found = asked.find(({ name }) => name === only);
  if (found === undefined) return undefined;
  const problem = await found.check();
  return problem === undefined ? text(200, "ok") : text(500, `internal server error: ${problem}\n`);
}

/** Whoever may ask for all of them at once, which is everybody, does not learn why one fails. */
async function answerAll(
  { healthResults, log }: HealthDeps,
  asked: readonly HealthCheck[],
  { endpoint, query }: { endpoint: string; query: URLSearchParams },
): Promise<ServedAnswer> {
  const excluded = new Set(query.getAll("exclude"));
  const results = await Promise.all(
    asked.map(async ({ name, check }) => {
      if (excluded.has(name)) return { isWell: true, line: `[+]${name} excluded: ok\n` };
      const problem = await check();
      const isWell = problem === undefined;
      if (!isWell) log.debug("a health check fails", { check: name, error: problem });
      healthResults.note({ name, type: endpoint, isWell });
      return { isWell, line: isWell ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n` };
    }),
  );
  const unknown = [...excluded].filter((name) => !asked.some((one) => one.name === name)).toSorted();
  const names = unknown.map((name) => JSON.stringify(name)).join(",");
  const warning = unknown.length === 0 ? "" : `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  const lines = `${results.map(({ line }) => line).join("")}${warning}`;
  if (results.some(({ isWell }) => !isWell)) return text(500, `${lines}${endpoint} check failed\n`);
  return text(200, query.has("verbose") ? `${lines}${endpoint} check passed\n` : "ok");
}

function text(status: number, body: string): ServedAnswer {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status, headers, body };
}
