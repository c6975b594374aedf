import type { Clock } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { DraCall } from "../../../dra/connect.ts";
import type { ClaimAccount } from "./claim-account.ts";

interface ClaimMetrics {
  /** Times the work on the claims of a pod, whatever becomes of it. */
  measure<T>(operation: "PrepareResources" | "UnprepareResources", work: () => Promise<T>): Promise<T>;
  countCall(driver: string, call: DraCall): void;
}

interface ClaimMetricsDeps {
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, "monotonic">;
  readonly account: Pick<ClaimAccount, "list">;
}

/** Upstream's `DRADurationBuckets`: fifteen, from 0.1 to 40 seconds, each the same number of times the one before. */
const BUCKETS = Array.from({ length: 15 }, (_, index) => 0.1 * 400 ** (index / 14));
/** Upstream's label for claims of whatever drivers. */
const ANY_DRIVER = "<any>";

/** Declares upstream's series of device claims. */
export function declareClaimMetrics({ metrics, clock, account }: ClaimMetricsDeps): ClaimMetrics {
  const operations = metrics.histogram(
    "dra_operations_duration_seconds",
    "Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Identified by the name of the operation (PrepareResources or UnprepareResources) and separated by the success of the operation. The number of failed operations is provided through the histogram's overall count.",
    { labels: ["operation_name", "is_error"], buckets: BUCKETS },
  );
  const calls = metrics.histogram(
    "dra_grpc_operations_duration_seconds",
    "Duration in seconds of the DRA gRPC operations",
    {
      labels: ["driver_name", "method_name", "grpc_status_code"],
      buckets: BUCKETS,
    },
  );
  const inUse = metrics.gauge(
    "dra_resource_claims_in_use",
    "The number of ResourceClaims that are currently in use on the node, by driver name (driver_name label value) and across all drivers (special value <any> for driver_name). Note that the sum of all by-driver counts is not the total number of in-use ResourceClaims because the same ResourceClaim might use devices from different drivers. Instead, use the count for the <any> driver_name.",
    ["driver_name"],
  );
  metrics.beforeRender(() => {
    inUse.reset();
    const prepared = account.list().filter(({ isPrepared }) => isPrepared);
    const counts = new Map([[ANY_DRIVER, prepared.length]]);
    for (const driver of prepared.flatMap(({ drivers }) => [...drivers.keys()])) {
      counts.set(driver, (counts.get(driver) ?? 0) + 1);
    }
    for (const [driver_name, count] of counts) inUse.set(count, { driver_name });
  });
  return {
    async measure(operation_name, work) {
      const startedAt = clock.monotonic();
      const observe = (is_error: string) =>
        operations.observe((clock.monotonic() - startedAt) / 1000, { operation_name, is_error });
      try {
        const result = await work();
        observe("false");
        return result;
      } catch (error) {
        observe("true");
        throw error;
      }
    },
    countCall: (driver_name, { method, code, seconds }) =>
      calls.observe(seconds, { driver_name, method_name: method, grpc_status_code: code }),
  };
}
