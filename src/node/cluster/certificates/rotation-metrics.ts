import type { Metrics } from "../../../base/metrics.ts";
import type { PairName } from "./certificate-store.ts";

/**
 * The metric series of one of the node's certificates, under upstream's names (pkg/kubelet/certificate,
 * pkg/kubelet/kubelet.go).
 */
interface RotationMetrics {
  /** Sets the seconds until the certificate expires: negative after that time, infinite where there is none. */
  setTtl(seconds: number): void;
  countFailure(): void;
  /** `seconds` counts from when the replaced certificate began to be valid. */
  observeRotation(seconds: number): void;
}

/** The buckets, in seconds, reach from a minute to four years. */
const ROTATION_BUCKETS = [60, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000];

export function createRotationMetrics(metrics: Metrics | undefined, pairName: PairName): RotationMetrics {
  if (metrics === undefined) return { setTtl() {}, countFailure() {}, observeRotation() {} };
  const isServer = pairName === "kubelet-server";
  const side = isServer ? "server" : "client";
  const which = isServer ? "serving" : "client";
  const ttl = metrics.gauge(
    `kubelet_certificate_manager_${side}_ttl_seconds`,
    `Gauge of the TTL (time-to-live) of the Kubelet's ${which} certificate. ` +
      "The value is in seconds until certificate expiry (negative if already expired). " +
      `If ${which} certificate is invalid or unused, the value will be +INF.`,
  );
  const failures = metrics.counter(
    isServer ? "kubelet_server_expiration_renew_errors" : "kubelet_certificate_manager_client_expiration_renew_errors",
    "Counter of certificate renewal errors.",
  );
  const rotations = isServer
    ? metrics.histogram(
        "kubelet_certificate_manager_server_rotation_seconds",
        "Histogram of the number of seconds the previous certificate lived before being rotated.",
        { buckets: ROTATION_BUCKETS },
      )
    : undefined;
  return {
    setTtl: (seconds) => ttl.set(seconds),
    countFailure: () => failures.add(),
    observeRotation: (seconds) => rotations?.observe(seconds),
  };
}
