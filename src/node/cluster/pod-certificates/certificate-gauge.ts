import type { Metrics } from "../../../base/metrics.ts";
import type { PodCertificates } from "./pod-certificates.ts";

/** Declares the gauge of how pods' certificates are, by their signers, under upstream's name and labels. */
export function declareCertificateGauge(
  metrics: Pick<Metrics, "beforeRender" | "gauge">,
  { health }: Pick<PodCertificates, "health">,
): void {
  const gauge = metrics.gauge(
    "kubelet_podcertificate_states",
    "Gauge vector reporting the number of pod certificate projected volume sources, faceted by signer_name and state.",
    ["signer_name", "state"],
  );
  metrics.beforeRender(() => {
    const counts = new Map<string, { signer_name: string; state: string; count: number }>();
    for (const { signerName: signer_name, state } of health()) {
      const key = `${signer_name} ${state}`;
      counts.set(key, { signer_name, state, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    gauge.reset();
    for (const { count, ...labels } of counts.values()) gauge.set(count, labels);
  });
}
