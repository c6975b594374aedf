/** What a Go kubelet is configured with wherever one runs beside ours: for one machine, on which others run, too. */
export function goKubeletConfiguration(port: number): Readonly<Record<string, unknown>> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: "127.0.0.1",
    port,
    readOnlyPort: 0,
    healthzPort: 0,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    // Whether the machine's disk is nearly full must not decide.
    imageGCHighThresholdPercent: 100,
  };
}
