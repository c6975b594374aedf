import type { Clock } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Page, PageHandler } from "../../host/http-server.ts";

/** How up to date the rules are. */
interface ProxyHealth {
  /** Notes that objects changed. */
  queued(): void;
  /** Notes that everything which was queued is in force, or, if false, that it is not. */
  applied(isOk: boolean): void;
  isHealthy(): boolean;
  readonly lastUpdated: number;
}

/** Rules that are behind for longer than this make the proxy unhealthy; upstream takes twice its sync period, a minute. */
const BEHIND_MS = 60_000;

/** Creates the record of a proxy that has not begun, which is not healthy. */
export function createProxyHealth(clock: Clock): ProxyHealth {
  let lastUpdated = 0;
  let behindSince: number | undefined;
  return {
    queued() {
      behindSince ??= clock.monotonic();
    },
    applied(isOk) {
      if (!isOk) return;
      lastUpdated = clock.now();
      behindSince = undefined;
    },
    isHealthy() {
      if (lastUpdated === 0) return false;
      return behindSince === undefined || clock.monotonic() - behindSince < BEHIND_MS;
    },
    get lastUpdated() {
      return lastUpdated;
    },
  };
}

/** Serves `--healthz-bind-address`: `/healthz` and `/livez`, with upstream's fields. */
export function createHealthPages(health: ProxyHealth, clock: Clock): PageHandler {
  return ({ path }) => {
    if (path !== "/healthz" && path !== "/livez") return NOT_FOUND;
    const isHealthy = health.isHealthy();
    const body = {
      lastUpdated: new Date(health.lastUpdated).toISOString(),
      currentTime: new Date(clock.now()).toISOString(),
      nodeEligible: true,
      healthy: isHealthy,
    };
    const headers = { "content-type": "application/json", "x-content-type-options": "nosniff" };
    return { status: isHealthy ? 200 : 503, headers, body: JSON.stringify(body) };
  };
}

/** Serves `--metrics-bind-address`: `/metrics`, `/healthz` and `/proxyMode`. */
export function createMetricsPages(metrics: Metrics, health: PageHandler): PageHandler {
  return async (request) => {
    if (request.path === "/metrics") {
      return { status: 200, headers: { "content-type": metrics.contentType }, body: await metrics.render() };
    }
    if (request.path === "/proxyMode") return { status: 200, headers: PLAIN, body: "nftables" };
    return await health(request);
  };
}

const PLAIN = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
const NOT_FOUND: Page = { status: 404, headers: PLAIN, body: "404 page not found\n" };
