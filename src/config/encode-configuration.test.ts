import { expect, it } from "vitest";
import { composeConfiguration } from "./compose-configuration.ts";
import { encodeKubeletConfiguration } from "./encode-configuration.ts";
import { DEFAULT_KUBELET_CONFIGURATION, type KubeletConfiguration } from "./kubelet-configuration.ts";

const KIND = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };

function read(fields: object): KubeletConfiguration {
  const file = { path: "/etc/kubelet/config.yaml", text: JSON.stringify({ ...KIND, ...fields }) };
  const { configuration, errors } = composeConfiguration({ file, dropIns: [], flags: new Map() });
  expect(errors).toEqual([]);
  return configuration;
}

it("writes what a Go kubelet writes of its defaults", () => {
  const encoded = encodeKubeletConfiguration(DEFAULT_KUBELET_CONFIGURATION);
  expect(encoded).toMatchObject({
    enableServer: true,
    syncFrequency: "1m0s",
    authentication: { x509: {}, webhook: { enabled: true, cacheTTL: "2m0s" }, anonymous: { enabled: false } },
    authorization: { mode: "Webhook", webhook: { cacheAuthorizedTTL: "5m0s", cacheUnauthorizedTTL: "30s" } },
    imageMaximumGCAge: "0s",
    cpuCFSQuotaPeriod: "100ms",
    memorySwap: {},
    logging: {
      format: "text",
      flushFrequency: "5s",
      options: { text: { infoBufferSize: "0" }, json: { infoBufferSize: "0" } },
    },
  });
  // Empty in Go, and so left out; and a pointer to false, which is not.
  for (const name of ["readOnlyPort", "rotateCertificates", "staticPodPath", "clusterDNS", "tracing"]) {
    expect(encoded).not.toHaveProperty(name);
  }
  expect(encoded).toMatchObject({ enableSystemLogQuery: false, nodeStatusMaxImages: 50 });
});

it("writes what can be read again, and then is the same", () => {
  for (const fields of [
    {},
    { clusterDNS: ["10.96.0.10"], featureGates: { NodeLogQuery: true }, healthzPort: 0, maxPods: 7 },
    { evictionHard: { "memory.available": "1Gi" }, tlsCipherSuites: ["TLS_AES_128_GCM_SHA256"], runOnce: false },
    { registerWithTaints: [{ key: "a", effect: "NoSchedule" }], logging: { verbosity: 4, flushFrequency: 1e9 } },
  ]) {
    const configuration = read(fields);
    expect(read(encodeKubeletConfiguration(configuration))).toEqual(configuration);
  }
});
