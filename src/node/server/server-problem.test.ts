import { expect, it } from "vitest";
import { composeConfiguration } from "../../config/compose-configuration.ts";
import { createNodeAgentConfig, type NodeAgentConfig } from "../../config/node-agent-config.ts";
import { findServerProblem, findServerWarning } from "./server-problem.ts";

function configOf(fields: object, { hasCluster }: { hasCluster: boolean }): NodeAgentConfig {
  const flags = new Map<string, unknown>(hasCluster ? [["kubeconfig", "/etc/kubernetes/kubelet.conf"]] : []);
  const text = JSON.stringify({ apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration", ...fields });
  const composed = composeConfiguration({ dropIns: [{ path: "/f", text }], flags });
  const { config } = createNodeAgentConfig({ ...composed, flags, hostname: "n", workingDirectory: "/" });
  return config;
}

const closed = { authentication: { webhook: { enabled: false }, anonymous: { enabled: false } } };

it.each<[string, object, boolean, string | undefined]>([
  ["a cluster to ask", {}, true, undefined],
  ["a cluster that is not to be asked", closed, true, "No authentication method configured"],
  ["no cluster to ask for tokens", {}, false, "no client provided, cannot use webhook authentication"],
  ["no cluster to ask for rights", closed, false, "no client provided, cannot use webhook authorization"],
  ["nobody to ask", { ...closed, authorization: { mode: "AlwaysAllow" } }, false, undefined],
])("says why there is no server for a node with %s", (_, fields, hasCluster, expected) => {
  expect(findServerProblem(configOf(fields, { hasCluster }))).toBe(expected);
});

it.each<[anonymous: boolean, mode: string, isWarned: boolean]>([
  [true, "AlwaysAllow", true],
  [true, "Webhook", false],
  [false, "AlwaysAllow", false],
])("warns of an API that everybody may use: anonymous %s, %s", (anonymous, mode, isWarned) => {
  const fields = { authentication: { anonymous: { enabled: anonymous } }, authorization: { mode } };
  const warning = findServerWarning(configOf(fields, { hasCluster: true }));
  expect(warning !== undefined).toBe(isWarned);
  if (isWarned) expect(warning).toContain("set authentication.anonymous.enabled to false, or authorization.mode");
});
