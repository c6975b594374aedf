import { sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { HealthResults } from "../../base/health-results.ts";
import type { Log } from "../../base/log.ts";
import type { ServedAnswer, ServedRequest } from "../../host/http-server.ts";
import type { ApiDescription } from "../discovery/api-description.ts";
import { dumpPriorityLevels, dumpQueues, dumpRequests } from "../flow-control/dump-flow-control.ts";
import type { FlowControl } from "../flow-control/flow-control.ts";
import type { HealthCheck } from "../ports/health-check.ts";
import { encodeValue } from "./encode.ts";
import { answerHealth } from "./health-checks.ts";
import { PLAIN_FORM } from "./media-type.ts";
import type { ServePath } from "./serve.ts";

interface PathDeps {
  /** The documents of the kinds that are served now. */
  description(): ApiDescription;
  version: object;
  healthChecks: readonly HealthCheck[];
  healthResults: HealthResults;
  log: Pick<Log, "debug">;
  flowControl: Pick<FlowControl, "snapshot">;
  clock: Pick<Clock, "now" | "monotonic" | "setTimer">;
  renderMetrics(): Promise<{ contentType: string; body: string }>;
  /** The keys for those who check service account tokens by themselves. */
  openIdConfiguration(): object;
  keySet(): object;
}

/** Serves the paths that are no resources. */
export function createPathHandler(deps: PathDeps): ServePath {
  return async (request, { path }) => {
    if (path.startsWith(FLOW_DUMPS)) return answerFlowDump(deps, request, path.slice(FLOW_DUMPS.length));
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    switch (path) {
      case "/version":
      case "/version/":
        return encodeValue(200, deps.version, PLAIN_FORM);
      case "/metrics":
        return text(200, await deps.renderMetrics());
      case "/metrics/slis":
        return text(200, await deps.healthResults.render());
      case "/.well-known/openid-configuration":
        return encodeValue(200, deps.openIdConfiguration(), PLAIN_FORM);
      case "/openid/v1/jwks":
        return {
          ...encodeValue(200, deps.keySet(), PLAIN_FORM),
          headers: { "content-type": "application/jwk-set+json" },
        };
      case "/":
        return encodeValue(200, { paths: ROOT_PATHS }, PLAIN_FORM);
      default:
        return (await answerHealth(deps, request, path)) ?? (await answerDocument(deps, request, path));
    }
  };
}

const ROOT_PATHS = [
  ...["/.well-known/openid-configuration", "/api", "/apis", "/healthz", "/livez", "/metrics", "/metrics/slis"],
  ...["/openapi/v2", "/openapi/v3", "/openid/v1/jwks", "/readyz", "/version"],
];

async function answerDocument(
  { description, clock }: PathDeps,
  request: ServedRequest,
  path: string,
): Promise<ServedAnswer | undefined> {
  const current = description();
  for (const _part of current.prepare(path)) await sleep(clock, 0);
  const document = current.document(path, request.header("accept").join(","));
  if (document === undefined) return undefined;
  const { etag, contentType, body } = document;
  const headers = { etag, vary: "Accept", "content-type": contentType };
  const isKnown = request.header("if-none-match").some((known) => known === etag);
  return isKnown ? { status: 304, headers: { etag, vary: "Accept" }, body: "" } : { status: 200, headers, body };
}

const FLOW_DUMPS = "/debug/api_priority_and_fairness/";

function answerFlowDump(
  { flowControl, clock }: PathDeps,
  { query }: ServedRequest,
  name: string,
): ServedAnswer | undefined {
  const table = (body: string) => text(200, { contentType: "text/plain; charset=utf-8", body });
  switch (name) {
    case "dump_priority_levels":
      return table(dumpPriorityLevels(flowControl.snapshot()));
    case "dump_queues":
      return table(dumpQueues(flowControl.snapshot()));
    case "dump_requests": {
      const now = { now: clock.now(), monotonic: clock.monotonic() };
      const details = (query.get("includeRequestDetails") ?? "") !== "";
      return table(dumpRequests(flowControl.snapshot(), { clock: now, details }));
    }
    default:
      return undefined;
  }
}

function text(status: number, { contentType, body }: { contentType: string; body: string }): ServedAnswer {
  return { status, headers: { "content-type": contentType, "x-content-type-options": "nosniff" }, body };
}
