import { encodeKubeletConfiguration } from "./encode-configuration.ts";
import type { NodeAgentConfig } from "./node-agent-config.ts";

/** Upstream's defaults where their gates are on (pkg/kubelet/apis/config/v1beta1/defaults.go). */
const VERIFICATION_POLICY = "NeverVerifyPreloadedImages";
const MAX_RESTART_PERIOD = "5m0s";

/**
 * Returns the content of `/configz`: the configuration in force, with the values that a Go kubelet adds to its defaults
 * (the certificate that it made for itself, and the values that follow from a feature gate).
 */
export function describeConfigz(config: Pick<NodeAgentConfig, "kubelet" | "featureGates" | "certDirectory">): object {
  const { kubelet, featureGates, certDirectory } = config;
  const encoded = encodeKubeletConfiguration(kubelet);
  const { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap, crashLoopBackOff } = kubelet;
  const isSelfSigned = !serverTLSBootstrap && tlsCertFile === "" && tlsPrivateKeyFile === "";
  const hasNoPolicy = kubelet.imagePullCredentialsVerificationPolicy === "";
  const hasNoPeriod = crashLoopBackOff.maxContainerRestartPeriod === undefined;
  return {
    kubeletconfig: {
      kind: "KubeletConfiguration",
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      ...encoded,
      ...(isSelfSigned && {
        tlsCertFile: `${certDirectory}/kubelet.crt`,
        tlsPrivateKeyFile: `${certDirectory}/kubelet.key`,
      }),
      ...(hasNoPolicy &&
        featureGates.KubeletEnsureSecretPulledImages && {
          imagePullCredentialsVerificationPolicy: VERIFICATION_POLICY,
        }),
      ...(hasNoPeriod &&
        featureGates.KubeletCrashLoopBackOffMax && {
          crashLoopBackOff: { maxContainerRestartPeriod: MAX_RESTART_PERIOD },
        }),
    },
  };
}
