import { expect, it } from "vitest";
import { composeConfiguration } from "./compose-configuration.ts";
import { describeConfigz } from "./configz.ts";
import { createNodeAgentConfig } from "./node-agent-config.ts";

function describe(fields: object): object {
  const kind = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
  const file = { path: "/etc/kubelet/config.yaml", text: JSON.stringify({ ...kind, ...fields }) };
  const flags = new Map<string, unknown>([["cert-dir", "/pki"]]);
  const { errors, ...composed } = composeConfiguration({ file, dropIns: [], flags });
  expect(errors).toEqual([]);
  return describeConfigz(createNodeAgentConfig({ ...composed, flags, hostname: "n", workingDirectory: "/" }).config);
}

const SELF_SIGNED = { tlsCertFile: "/pki/kubelet.crt", tlsPrivateKeyFile: "/pki/kubelet.key" };

it("shows what a Go kubelet fills in", () => {
  expect(describe({ maxPods: 7 })).toMatchObject({
    kubeletconfig: {
      kind: "KubeletConfiguration",
      maxPods: 7,
      ...SELF_SIGNED,
      imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages",
      crashLoopBackOff: { maxContainerRestartPeriod: "5m0s" },
    },
  });
});

it.each([
  [{ serverTLSBootstrap: true }, Object.keys(SELF_SIGNED)],
  [{ featureGates: { KubeletEnsureSecretPulledImages: false } }, ["imagePullCredentialsVerificationPolicy"]],
  [{ featureGates: { KubeletCrashLoopBackOffMax: false } }, ["crashLoopBackOff.maxContainerRestartPeriod"]],
])("with %o it does not say %j", (fields, absent) => {
  for (const name of absent) expect(describe(fields)).not.toHaveProperty(`kubeletconfig.${name}`);
});

it("leaves what somebody said as it is", () => {
  const said = {
    tlsCertFile: "/own.crt",
    tlsPrivateKeyFile: "/own.key",
    imagePullCredentialsVerificationPolicy: "AlwaysVerify",
    featureGates: { NodeSwap: true },
  };
  expect(describe(said)).toMatchObject({ kubeletconfig: said });
});
