import type { Metrics } from "../../base/metrics.ts";
import type { AddressFamily } from "../rules/fragment.ts";
import type { AppliedTurn } from "./apply-loop.ts";

const FAMILIES = { ip: "IPv4", ip6: "IPv6" } as const;
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

/** Declares kube-proxy's series about the work on rules. The result is called after each turn of the loop. */
export function declareSyncMetrics(metrics: Metrics, families: readonly AddressFamily[]): (turn: AppliedTurn) => void {
  const histogram = (name: string, help: string) =>
    metrics.histogram(`kubeproxy_${name}`, help, { labels: ["ip_family"], buckets: SYNC_BUCKETS });
  const every = histogram("sync_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds");
  const whole = histogram(
    "sync_full_proxy_rules_duration_seconds",
    "SyncProxyRules latency in seconds for full resyncs",
  );
  const partial = histogram(
    "sync_partial_proxy_rules_duration_seconds",
    "SyncProxyRules latency in seconds for partial resyncs",
  );
  const last = metrics.gauge(
    "kubeproxy_sync_proxy_rules_last_timestamp_seconds",
    "The last time proxy rules were successfully synced",
    ["ip_family"],
  );
  const failures = metrics.counter(
    "kubeproxy_sync_proxy_rules_nftables_sync_failures_total",
    "Cumulative proxy nftables sync failures",
    ["ip_family"],
  );
  const services = metrics.counter(
    "kubeproxy_sync_proxy_rules_service_changes_total",
    "Cumulative proxy rules Service changes",
  );
  const endpoints = metrics.counter(
    "kubeproxy_sync_proxy_rules_endpoint_changes_total",
    "Cumulative proxy rules Endpoint changes",
  );
  return ({ startedAt, durationMs, isOk, isWhole, changes }) => {
    const seconds = durationMs / 1000;
    for (const family of families) {
      const labels = { ip_family: FAMILIES[family] };
      every.observe(seconds, labels);
      (isWhole ? whole : partial).observe(seconds, labels);
      if (isOk) last.set((startedAt + durationMs) / 1000, labels);
      else failures.add(labels);
    }
    services.add(undefined, changes.filter(({ kind }) => kind === "Service").length);
    endpoints.add(undefined, changes.filter(({ kind }) => kind === "EndpointSlice").length);
  };
}
