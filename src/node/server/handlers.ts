import type { NodeCondition, Pod } from "../../api/gen/types.ts";
import type { TimelineRecord } from "../../base/timeline.ts";
import type { AnswerHeaders, Page, PageHandler, PageRequest } from "../../host/http-server.ts";
import { createExplainHandler, EXPLAIN_ROOT, type Explainer } from "./explain.ts";
import type { HealthChecks } from "./health-checks.ts";

/** The headers of every page that does not set its own. */
export const PAGE_HEADERS: AnswerHeaders = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
};

/** Everything that the node tells about itself over HTTP. */
export interface NodeView {
  nodeName: string;
  runtime(): { name: string; version: string };
  conditions(): NodeCondition[];
  /** Every pod that the sources name, with its published status. */
  pods(): Pod[];
  /** What is wrong with the files that pods come from. */
  manifestProblems(): readonly FileProblem[];
  /** Names what these are like: another one after each change of one. */
  revisionOf(pods: readonly Pod[], problems: readonly FileProblem[]): string;
  /** Every pod for which the runtime has a ready sandbox or a running container. */
  runningPods(): Pod[];
  timeline(): readonly TimelineRecord[];
  /** Says why the node and its pods are as they are. */
  explainer: Explainer;
  health: HealthChecks;
  metrics(): Promise<{ contentType: string; text: string }>;
  /** The pages about what the node and its pods do and use, by path: `/stats/summary`, `/metrics/resource`, … */
  statistics: Readonly<Record<string, StatisticsPage>>;
}

/** Why a file, or what is at the path of the files, does not give the pods that it should. */
interface FileProblem {
  readonly file: string;
  readonly message: string;
}

/** A page of statistics. Only the node's own API passes a signal, which fires when the client has gone. */
export type StatisticsPage = (request: PageRequest & { readonly signal?: AbortSignal }) => Promise<Page>;

/** Serves `--healthz-port`, 10248: one path, for the program that restarts the node agent. */
export function createHealthzHandler(view: NodeView): PageHandler {
  const other = route({});
  return async (request) => {
    const page = request.path.startsWith("/healthz") ? view.health.find(request.path) : undefined;
    return await (page ?? other)(request);
  };
}

/** Serves `--read-only-port`, 10255: everything that may be read without authentication. */
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

/**
 * Serves the socket that `nodelet status` asks: everything that the read-only port serves, and the whole node in one
 * document, and why the pods are as they are. With `?unless=<revision>` the document comes only where pods or manifests
 * have changed.
 */
export function createNodeSocketHandler(view: NodeView): PageHandler {
  const readOnly = createReadOnlyHandler(view);
  const status = route({
    "/status": ({ query }) => {
      const pods = view.pods();
      const manifestProblems = view.manifestProblems();
      const revision = view.revisionOf(pods, manifestProblems);
      if (query.get("unless") === revision) return { status: 304, body: "" };
      return json({ revision, ...report(view, pods), manifestProblems });
    },
  });
  const explain = createExplainHandler(view.explainer);
  return async (request) => {
    if (request.path === EXPLAIN_ROOT || request.path.startsWith(`${EXPLAIN_ROOT}/`)) return await explain(request);
    return await (request.path === "/status" ? status : readOnly)(request);
  };
}

function report(view: NodeView, pods: readonly Pod[]) {
  return {
    node: { name: view.nodeName, conditions: view.conditions(), runtime: view.runtime() },
    pods,
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

/**
 * Makes a list of pods. As in every Kubernetes list, the items omit `apiVersion` and `kind`, which the list states for
 * all of them.
 */
function podList(pods: Pod[]): Page {
  const items = pods.map(({ apiVersion: _apiVersion, kind: _kind, ...pod }) => pod);
  return json({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
}

function json(value: unknown): Page {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

type Routes = Readonly<Record<string, PageHandler>>;

function route(routes: Routes): PageHandler {
  return async (request) => {
    const { method, path } = request;
    const handle = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (handle === undefined) return { status: 404, body: "404 page not found\n" };
    if (method !== "GET" && method !== "HEAD") return { status: 405, body: "405: Method Not Allowed" };
    return await handle(request);
  };
}
