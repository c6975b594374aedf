import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type KubeObject, typed } from "../../api/object.ts";
import { clusterInfo, reconcileClusterInfo } from "./cluster-info.ts";
import type { ApiEndpoint } from "./first-objects.ts";

const infoAt = (endpoint: Partial<ApiEndpoint>, clientAuthorityPem = "PEM"): KubeObject =>
  clusterInfo({
    endpoint: { serviceAddress: "10.96.0.1", address: "10.64.0.1", port: 6443, ...endpoint },
    clientAuthorityPem,
    clusterDns: undefined,
    frontAuthorityPem: undefined,
    hasLocalStorage: false,
  });
const kubeconfigOf = (object: KubeObject) => typed("ConfigMap", object).data?.["kubeconfig"] ?? "";

test.each([
  [{ listenAddress: "192.0.2.1" }, "https://192.0.2.1:6443"],
  [{ listenAddress: "127.0.0.1" }, "https://10.64.0.1:6443"],
  [{ listenAddress: "0.0.0.0" }, "https://10.64.0.1:6443"],
  [{ address: "0.0.0.0" }, "https://127.0.0.1:6443"],
  [{ address: "::" }, "https://[::1]:6443"],
  [{ listenAddress: "2001:db8::1" }, "https://[2001:db8::1]:6443"],
])("leads to where machines reach the server: %j", (endpoint, server) => {
  const { clusters } = parse(kubeconfigOf(infoAt(endpoint)));
  expect(clusters).toEqual([{ name: "", cluster: { server, "certificate-authority-data": "UEVN" } }]);
});

describe("at another start", () => {
  const signed = (object: KubeObject): KubeObject => ({
    ...object,
    data: { kubeconfig: kubeconfigOf(object), "jws-kubeconfig-abcdef": "a..b" },
  });

  test("stays as it is while it is right", () => {
    expect(reconcileClusterInfo(signed(infoAt({})), infoAt({}))).toBeUndefined();
  });

  test("follows the authority", () => {
    const next = reconcileClusterInfo(signed(infoAt({}, "OLD")), infoAt({}));
    expect(next?.["data"]).toEqual({
      kubeconfig: kubeconfigOf(infoAt({})),
      "jws-kubeconfig-abcdef": "a..b",
    });
  });

  test("is left alone where somebody else wrote it", () => {
    const theirs = { ...infoAt({}, "OLD"), metadata: { name: "cluster-info", namespace: "kube-public" } };
    expect(reconcileClusterInfo(theirs, infoAt({}))).toBeUndefined();
  });
});
