import { composeConfiguration } from "../../../src/config/compose-configuration.ts";
import { describeConfigz } from "../../../src/config/configz.ts";
import { decodeCredentialProviders } from "../../../src/config/credential-provider-config.ts";
import { createNodeAgentConfig } from "../../../src/config/node-agent-config.ts";
import { promise, type Target } from "../target.ts";
import { PART, partsOf } from "./parts.ts";
import { YAML_WORDS } from "./words.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
const SEEDS = [
  `${HEAD}syncFrequency: 1m\nmaxPods: 110\nclusterDNS: [10.0.0.10]\nevictionHard: {memory.available: 5%, nodefs.inodesFree: 1Gi}\n`,
  `${HEAD}authentication: {anonymous: {enabled: false}, x509: {clientCAFile: ca.crt}}\nauthorization: {mode: Webhook}\ntlsCipherSuites: [TLS_AES_128_GCM_SHA256]\n`,
  `${HEAD}featureGates: {A: true}\nkubeReserved: {cpu: 100m, memory: 1Gi}\nenforceNodeAllocatable: [pods]\nregisterWithTaints: [{key: a, effect: NoSchedule}]\n`,
  `${HEAD}logging: {format: json, verbosity: 2, flushFrequency: 5s}\nshutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\nreservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]\n`,
  "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n- name: a\n  matchImages: ['*.example.com']\n  defaultCacheDuration: 1h\n  apiVersion: credentialprovider.kubelet.k8s.io/v1\n",
];
const WORDS = [
  ...[
    HEAD,
    "1h30m",
    "-1s",
    "1ns",
    "9999999999h",
    "5%",
    "101%",
    "-1",
    "1Gi",
    "100m",
    "evictionSoft: ",
    "evictionHard: ",
  ],
  ...["cpuManagerPolicy: static", "topologyManagerPolicy: ", "imageGCHighThresholdPercent: ", "port: ", "address: "],
  ...[
    "systemReserved: ",
    "staticPodPath: ",
    "providers:\n",
    "matchImages: ",
    "featureGates: ",
    "memorySwap: ",
    "{}",
    "[]",
  ],
];

/** The kubelet's configuration file with a drop-in, and that of credential providers. */
export const kubeletConfigurationTarget: Target = {
  name: "kubelet-configuration",
  runs: 192,
  seeds: SEEDS.map((file, index) => `${file}${PART}${SEEDS[(index + 1) % SEEDS.length]}`),
  words: [...WORDS, ...YAML_WORDS],
  maxBytes: 4 * 1024,
  setUp: async () => ({
    run(input) {
      const [file = "", dropIn = ""] = partsOf(input, 2).map(String);
      const flags = new Map();
      const composed = composeConfiguration({
        file: { path: "/etc/kubelet.yaml", text: file },
        dropIns: dropIn === "" ? [] : [{ path: "/etc/kubelet.d/a.conf", text: dropIn }],
        flags,
      });
      const { configuration, featureGates, errors } = composed;
      promise(
        errors.every(({ message }) => message !== ""),
        "an error without words",
      );
      const sources = { configuration, featureGates, flags, hostname: "n1", workingDirectory: "/" };
      const { config } = createNodeAgentConfig(sources);
      if (errors.length === 0) describeConfigz(config);
      decodeCredentialProviders(file);
    },
  }),
};
