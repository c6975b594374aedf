import { type Clock, SECOND } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { HttpHandler, PageHandler, PageRequest, ServedAnswer } from "../../host/http-server.ts";

/** Counts and times the requests of the node's servers, under upstream's names (pkg/kubelet/server/metrics). */
interface HttpMetrics {
  /** Measures the requests of the read-only server. */
  measure(handler: PageHandler): PageHandler;
  /** Measures the requests of the node's own API. A stream counts as in flight until it is over. */
  measureSecure(handler: HttpHandler): HttpHandler;
}

const LABELS = ["method", "path", "server_type", "long_running"] as const;
type RequestLabels = Readonly<Record<(typeof LABELS)[number], string>>;
type ServerType = "readonly" | "readwrite";

/** Methods and paths other than these are counted as `other`, so that clients cannot create new label values. */
const METHODS: ReadonlySet<string> = new Set(["OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT"]);
const PATHS: ReadonlySet<string> = new Set([
  ...["attach", "checkpoint", "configz", "containerLogs", "debug", "exec", "healthz", "logs", "metrics"],
  ...["metrics/cadvisor", "metrics/probes", "metrics/resource", "pods", "portForward", "pprof", "run", "runningpods"],
  ...["stats", "statusz", "flagz"],
]);
/** The paths that upstream counts as long-running. Its lower-case `portforward` matches no path of port forwarding. */
const LONG_RUNNING: ReadonlySet<string> = new Set(["exec", "attach", "portforward", "debug"]);
/** The paths for which WebSocket streams are counted, and the names under which they are counted. */
const STREAMS: ReadonlyMap<string, string> = new Map([
  ["exec", "exec"],
  ["attach", "attach"],
  ["portForward", "portforward"],
]);

/** Both servers of a process count on the same series, so there is one instance for each registry. */
const known = new WeakMap<Metrics, HttpMetrics>();

/** Returns the metrics of this registry. */
export function httpMetricsOf(metrics: Metrics, clock: Pick<Clock, "monotonic">): HttpMetrics {
  const made = known.get(metrics) ?? createHttpMetrics(metrics, clock);
  known.set(metrics, made);
  return made;
}

function createHttpMetrics(metrics: Metrics, clock: Pick<Clock, "monotonic">): HttpMetrics {
  const begin = declareRequests(metrics, clock);
  const streams = metrics.counter(
    "kubelet_websocket_streaming_requests_total",
    "Total number of WebSocket streaming requests (exec/attach/portforward) received by the kubelet.",
    ["subresource"],
  );
  return {
    measure: (handler) => async (request) => {
      const end = begin(request, "readonly");
      try {
        return await handler(request);
      } finally {
        end();
      }
    },
    measureSecure: (handler) => async (request) => {
      const end = begin(request, "readwrite");
      const subresource = STREAMS.get(pathLabel(request.path));
      let answer: ServedAnswer;
      try {
        answer = await handler(request);
      } catch (error) {
        end();
        throw error;
      }
      const isWebSocket = request.header("upgrade")[0]?.toLowerCase() === "websocket";
      if (isTakenOver(answer) && isWebSocket && subresource !== undefined) streams.add({ subresource });
      return endWith(answer, request.method, end);
    },
  };
}

/**
 * Returns a function that begins a request. The function that this returns must be called once, when the request is
 * over.
 */
function declareRequests(metrics: Metrics, clock: Pick<Clock, "monotonic">) {
  const labels = [...LABELS];
  const requests = metrics.counter(
    "kubelet_http_requests_total",
    "Number of the http requests received since the server started",
    labels,
  );
  const durations = metrics.histogram(
    "kubelet_http_requests_duration_seconds",
    "Duration in seconds to serve http requests",
    { labels },
  );
  const inFlight = metrics.gauge("kubelet_http_inflight_requests", "Number of the inflight http requests", labels);
  const running = new Map<string, number>();
  const change = (values: RequestLabels, by: number) => {
    const key = Object.values(values).join("\n");
    const count = (running.get(key) ?? 0) + by;
    running.set(key, count);
    inFlight.set(count, values);
  };
  return (request: Pick<PageRequest, "method" | "path">, server_type: ServerType): (() => void) => {
    const path = pathLabel(request.path);
    const method = METHODS.has(request.method) ? request.method : "other";
    const values = { method, path, server_type, long_running: String(LONG_RUNNING.has(path)) };
    const begun = clock.monotonic();
    requests.add(values);
    change(values, 1);
    return () => {
      change(values, -1);
      durations.observe((clock.monotonic() - begun) / SECOND, values);
    };
  };
}

function pathLabel(path: string): string {
  const [, root = "", next] = path.split("/", 3);
  const label = root === "metrics" && next !== undefined ? `${root}/${next}` : root;
  return PATHS.has(label) ? label : "other";
}

/**
 * Returns the same answer, but with `end` called when the answer is over. A stream is over when it closes, and an
 * answer in pieces when its last piece is written. Every other answer is over at once, and so is an answer in pieces to
 * a HEAD request.
 */
function endWith(answer: ServedAnswer, method: string, end: () => void): ServedAnswer {
  const { body } = answer;
  if (typeof body === "object" && "takeOver" in body) {
    return { ...answer, body: { takeOver: async (socket) => await body.takeOver(socket).finally(end) } };
  }
  if (typeof body === "object" && "produce" in body && method !== "HEAD") {
    return { ...answer, body: { produce: async (writer) => await body.produce(writer).finally(end) } };
  }
  end();
  return answer;
}

const isTakenOver = ({ body }: ServedAnswer) => typeof body === "object" && "takeOver" in body;
