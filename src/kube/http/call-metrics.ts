import type { Metrics } from "../../base/metrics.ts";

/** Counts requests under client-go's names. `verb`: HTTP's. */
export interface CallMetrics {
  /** One attempt. `code`: the answer's, or `<error>` when there was none. */
  countRequest(method: string, code: string): void;
  /** An attempt that is followed by another one. */
  countRetry(verb: string, code: string): void;
  /** A whole call with its retries. */
  observeCall(verb: string, seconds: number): void;
  /** The time for which the client's own limiter kept an attempt back. */
  observeWait(verb: string, seconds: number): void;
  /** Bodies. */
  observeSize(direction: "request" | "response", verb: string, bytes: number): void;
}

const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
/** 64 bytes to 16 MiB, as upstream. */
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

type Series = ReturnType<typeof declareSeries>;
/** Several clients of one process count on the same series. */
const declared = new WeakMap<Metrics, Series>();

const NOTHING: CallMetrics = {
  countRequest() {},
  countRetry() {},
  observeCall() {},
  observeWait() {},
  observeSize() {},
};

/** `host` is that of the one server, so that labels are bounded. */
export function createCallMetrics(metrics: Metrics | undefined, host: string): CallMetrics {
  if (metrics === undefined) return NOTHING;
  const series = declared.get(metrics) ?? declareSeries(metrics);
  declared.set(metrics, series);
  return {
    countRequest: (method, code) => series.requests.add({ code, method, host }),
    countRetry: (verb, code) => series.retries.add({ code, verb, host }),
    observeCall: (verb, seconds) => series.duration.observe(seconds, { verb, host }),
    observeWait: (verb, seconds) => series.waits.observe(seconds, { verb, host }),
    observeSize: (direction, verb, bytes) => series[direction].observe(bytes, { verb, host }),
  };
}

function declareSeries(metrics: Metrics) {
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram(`rest_client_${name}`, help, { labels: ["verb", "host"], buckets });
  return {
    requests: metrics.counter(
      "rest_client_requests_total",
      "Number of HTTP requests, partitioned by status code, method, and host.",
      ["code", "method", "host"],
    ),
    retries: metrics.counter(
      "rest_client_request_retries_total",
      "Number of request retries, partitioned by status code, verb, and host.",
      ["code", "verb", "host"],
    ),
    duration: histogram(
      "request_duration_seconds",
      "Request latency in seconds. Broken down by verb, and host.",
      DURATION_BUCKETS,
    ),
    waits: histogram(
      "rate_limiter_duration_seconds",
      "Client side rate limiter latency in seconds. Broken down by verb, and host.",
      DURATION_BUCKETS,
    ),
    request: histogram("request_size_bytes", "Request size in bytes. Broken down by verb and host.", SIZE_BUCKETS),
    response: histogram("response_size_bytes", "Response size in bytes. Broken down by verb and host.", SIZE_BUCKETS),
  };
}
