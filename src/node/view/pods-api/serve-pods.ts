import type { Metrics } from "../../../base/metrics.ts";
import type { Part } from "../../../base/run-parts.ts";
import { createTokenBucket } from "../../../base/token-bucket.ts";
import type { NodePods } from "../../../pods-api/port.ts";
import { servePodsApi } from "../../../pods-api/serve.ts";
import { keepSocketServed, type LocalSocketDeps } from "../../resources/local-sockets/keep-served.ts";

interface PodsPartDeps extends LocalSocketDeps {
  readonly pods: NodePods;
}

/** Upstream's `DefaultQPS` and `DefaultBurstTokens`. */
const RATE = { perSecond: 100, burst: 10 };

/** Serves the API of the node's pods at `pods-api.sock` in the directory, which root alone may enter. */
export function createPodsApiPart(deps: PodsPartDeps, directory: string): Part {
  const { clock, pods } = deps;
  const bucket = createTokenBucket(RATE, clock.monotonic());
  const services = [servePodsApi({ pods, mayCall: () => bucket.tryTake(clock.monotonic()) })];
  const purpose = "Nobody can watch the node's pods";
  return {
    name: "pods API",
    run: async (signal) =>
      await keepSocketServed(deps, { directory, name: "pods-api.sock", services, purpose }, signal),
  };
}

/** Declares upstream's series of the API, and returns what counts a watcher that was given up. */
export function declarePodsApiMetrics(metrics: Metrics): () => void {
  const dropped = metrics.counter(
    "kubelet_pod_watch_events_dropped_total",
    "Cumulative number of pod watch events dropped.",
  );
  return () => dropped.add();
}
