import type { NodeCondition, Pod } from "../../api/gen/types.ts";
import type { TimelineRecord } from "../../base/timeline.ts";
import type { AnswerHeaders, Page, PageHandler, PageRequest } from "../../host/http-server.ts";
import type { HealthChecks } from "./health-checks.ts";

/** What every page says of itself that does not say otherwise. */
export const PAGE_HEADERS: AnswerHeaders = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
};

/** What the node tells about itself over HTTP. */
export interface NodeView {
  nodeName: string;
  runtime(): { name: string; version: string };
  conditions(): NodeCondition[];
  /** Every pod that the sources name, with its published status. */
  pods(): Pod[];
  /** Every pod that the runtime holds something running of. */
  runningPods(): Pod[];
  timeline(): readonly TimelineRecord[];
  health: HealthChecks;
  metrics(): Promise<{ contentType: string; text: string }>;
  /** Pages about what the node and its pods do and use, by path: `/stats/summary`, `/metrics/resource`, … */
  statistics: Readonly<Record<string, StatisticsPage>>;
}

/** Only the node's own API tells when who asked has gone. */
export type StatisticsPage = (request: PageRequest & { readonly signal?: AbortSignal }) => Promise<Page>;

/** `--healthz-port`, 10248: one path, for whoever restarts the node agent. */
export function createHealthzHandler(view: NodeView): PageHandler {
  const other = route({});
  return async (request) => {
    const page = request.path.startsWith("/healthz") ? view.health.find(request.path) : undefined;
    return await (page ?? other)(request);
  };
}

/** `--read-only-port`, 10255: what may be known without asking who wants to know. */
export function createReadOnlyHandler(view: NodeView): PageHandler {
  const own = route({
    "/pods": () => podList(view.pods()),
    "/pods/": () => podList(view.pods()),
    "/runningpods": () => podList(view.runningPods()),
    "/runningpods/": () => podList(view.runningPods()),
    "/metrics": async () => {
      const { contentType, text } = await view.metrics();
      return { status: 200, headers: { "content-type": contentType }, body: text };
    },
  });
  return async (request) => {
    const page = Object.hasOwn(view.statistics, request.path) ? view.statistics[request.path] : undefined;
    return await (page ?? view.health.find(request.path) ?? own)(request);
  };
}

/** The socket that `nodelet status` asks: all of the above and the node in one document. */
export function createNodeSocketHandler(view: NodeView): PageHandler {
  const readOnly = createReadOnlyHandler(view);
  const status = route({ "/status": () => json(report(view)) });
  return async (request) => await (request.path === "/status" ? status : readOnly)(request);
}

function report(view: NodeView) {
  return {
    node: { name: view.nodeName, conditions: view.conditions(), runtime: view.runtime() },
    pods: view.pods(),
    events: view.timeline().map(({ pod, type, reason, message, container, at, count }) => ({
      pod,
      type,
      reason,
      message,
      ...(container === undefined ? {} : { container }),
      at: new Date(at).toISOString(),
      count,
    })),
  };
}

/** As in every list, the items leave out what the list says of all. */
function podList(pods: Pod[]): Page {
  const items = pods.map(({ apiVersion: _apiVersion, kind: _kind, ...pod }) => pod);
  return json({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
}

function json(value: unknown): Page {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

type Routes = Readonly<Record<string, () => Promise<Page> | Page>>;

function route(routes: Routes): PageHandler {
  return async ({ method, path }) => {
    const handle = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (handle === undefined) return { status: 404, body: "404 page not found\n" };
    if (method !== "GET" && method !== "HEAD") return { status: 405, body: "405: Method Not Allowed" };
    return await handle();
  };
}
