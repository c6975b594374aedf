import type { Metrics } from "../base/metrics.ts";
import type { DnsTransport } from "../host/dns-port.ts";

/** What is counted of an answered question. */
interface AnsweredQuestion {
  readonly transport: DnsTransport;
  readonly family: "ipv4" | "ipv6";
  /** `A`, `AAAA`, or `other` for what CoreDNS does not tell apart either. */
  readonly type: string;
  /** Our zone, or `.` for everything else. */
  readonly zone: string;
  readonly code: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly seconds: number;
}

/** CoreDNS' series, under its names, so that its dashboards show this server too. */
export interface DnsMetrics {
  answered(question: AnsweredQuestion): void;
  cacheHit(kind: "success" | "denial"): void;
  cacheMiss(): void;
  cacheSize(entries: number): void;
  forwardRefused(): void;
}

type Alike = Omit<AnsweredQuestion, "requestBytes" | "responseBytes" | "seconds">;

/** Answers with the same labels, since the last page of metrics. There are few sets of labels. */
interface Tally {
  readonly alike: Alike;
  count: number;
}

const DURATIONS = [
  0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
];
const SIZES = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16000, 32000, 48000, 64000];

/** Declares the series. `server` is what their label of that name says, such as `dns://:53`. */
export function declareDnsMetrics(metrics: Metrics, server: string): DnsMetrics {
  const common = ["server", "zone", "view"] as const;
  const requests = metrics.counter(
    "coredns_dns_requests_total",
    "Counter of DNS requests made per zone, protocol and family.",
    [...common, "proto", "family", "type"],
  );
  const responses = metrics.counter("coredns_dns_responses_total", "Counter of response status codes.", [
    ...common,
    "rcode",
    "plugin",
  ]);
  const durations = metrics.histogram(
    "coredns_dns_request_duration_seconds",
    "Histogram of the time (in seconds) each request took per zone.",
    { labels: common, buckets: DURATIONS },
  );
  const sizes = { labels: [...common, "proto"] as const, buckets: SIZES };
  const requestSizes = metrics.histogram(
    "coredns_dns_request_size_bytes",
    "Size of the EDNS0 UDP buffer in bytes (64K for TCP) per zone and protocol.",
    sizes,
  );
  const responseSizes = metrics.histogram(
    "coredns_dns_response_size_bytes",
    "Size of the returned response in bytes.",
    sizes,
  );
  const cacheLabels = ["server", "zones", "view"] as const;
  const hits = metrics.counter("coredns_cache_hits_total", "The count of cache hits.", [...cacheLabels, "type"]);
  const misses = metrics.counter("coredns_cache_misses_total", "The count of cache misses.", cacheLabels);
  const entries = metrics.gauge("coredns_cache_entries", "The number of elements in the cache.", cacheLabels);
  const refused = metrics.counter(
    "coredns_forward_max_concurrent_rejects_total",
    "Counter of the number of queries rejected because the concurrent queries were at maximum.",
  );
  const cache = { server, zones: ".", view: "" };
  // Counting a set of labels costs as much as making an answer does, so answers that are alike are counted together.
  const tallies = new Map<string, Tally>();
  metrics.beforeRender(() => {
    for (const tally of tallies.values()) {
      const { transport: proto, family, type, zone, code: rcode } = tally.alike;
      const labels = { server, zone, view: "" };
      requests.add({ ...labels, proto, family: family === "ipv4" ? "1" : "2", type }, tally.count);
      responses.add({ ...labels, rcode, plugin: zone === "." ? "forward" : "kubernetes" }, tally.count);
      tally.count = 0;
    }
  });
  return {
    answered({ requestBytes, responseBytes, seconds, ...alike }) {
      const { transport, zone } = alike;
      const key = `${transport} ${alike.family} ${alike.type} ${zone} ${alike.code}`;
      const tally = tallies.get(key) ?? { alike, count: 0 };
      tally.count++;
      tallies.set(key, tally);
      const labels = { server, zone, view: "" };
      durations.observe(seconds, labels);
      requestSizes.observe(requestBytes, { ...labels, proto: transport });
      responseSizes.observe(responseBytes, { ...labels, proto: transport });
    },
    cacheHit: (type) => hits.add({ ...cache, type }),
    cacheMiss: () => misses.add(cache),
    cacheSize: (size) => entries.set(size, cache),
    forwardRefused: () => refused.add(),
  };
}
