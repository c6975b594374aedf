import type { Metrics } from "../../base/metrics.ts";

/** What is counted of the requests, under client-go's names. */
export interface CallMetrics {
  /** One attempt. `code`: the answer's, or `<error>` when there was none. */
  countRequest(method: string, code: string): void;
  /** A whole call with its retries. */
  observeCall(verb: string, seconds: number): void;
}

const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

type Series = ReturnType<typeof declareSeries>;
/** Several clients of one process count on the same series. */
const declared = new WeakMap<Metrics, Series>();

/** `host` is the server's, which is one: labels are bounded. */
export function createCallMetrics(metrics: Metrics | undefined, host: string): CallMetrics {
  if (metrics === undefined) return { countRequest: () => undefined, observeCall: () => undefined };
  const series = declared.get(metrics) ?? declareSeries(metrics);
  declared.set(metrics, series);
  return {
    countRequest: (method, code) => series.requests.add({ code, method, host }),
    observeCall: (verb, seconds) => series.duration.observe(seconds, { verb, host }),
  };
}

function declareSeries(metrics: Metrics) {
  return {
    requests: metrics.counter(
      "rest_client_requests_total",
      "Number of HTTP requests, partitioned by status code, method, and host.",
      ["code", "method", "host"],
    ),
    duration: metrics.histogram(
      "rest_client_request_duration_seconds",
      "Request latency in seconds. Broken down by verb, and host.",
      { labels: ["verb", "host"], buckets: BUCKETS },
    ),
  };
}
