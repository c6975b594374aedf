import type { Metrics } from "../../../base/metrics.ts";
import type { Part } from "../../../base/run-parts.ts";
import { createTokenBucket } from "../../../base/token-bucket.ts";
import type { PodResourcesSource } from "../../../pod-resources/port.ts";
import { servePodResources } from "../../../pod-resources/serve.ts";
import { keepSocketServed, type LocalSocketDeps } from "../local-sockets/keep-served.ts";
import { declarePodResourcesMetrics } from "./metrics.ts";

interface PodResourcesPartDeps extends LocalSocketDeps {
  readonly metrics: Metrics;
  readonly source: PodResourcesSource;
}

/** Upstream's `DefaultQPS` and `DefaultBurstTokens`. */
const RATE = { perSecond: 100, burst: 10 };

/** Serves the podresources API at `kubelet.sock` in the directory. */
export function createPodResourcesPart(deps: PodResourcesPartDeps, directory: string): Part {
  const { clock, source } = deps;
  const { countCall, countError } = declarePodResourcesMetrics(deps.metrics);
  const bucket = createTokenBucket(RATE, clock.monotonic());
  const services = servePodResources({
    source,
    mayCall: () => bucket.tryTake(clock.monotonic()),
    onCall: countCall,
    onError: countError,
  });
  const purpose = "Nobody can ask for the resources of pods";
  return {
    name: "pod resources",
    run: async (signal) => await keepSocketServed(deps, { directory, services, purpose }, signal),
  };
}
