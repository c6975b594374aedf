import { describe, expect, test } from "vitest";
import { type KubeObject, typed } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createBootstrapSigner } from "./bootstrap-signer.ts";

/** Made with `k8s.io/cluster-bootstrap/token/jws`, of the content and the token that its own tests have. */
const CONTENT = "Hello from the other side. I must have called a thousand times.";
const SIGNATURE = "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8";
const TARGET = { resource: "configmaps", namespace: "kube-public", name: "cluster-info" };

const info = (data: Record<string, string>): KubeObject => {
  const metadata = { name: TARGET.name, namespace: TARGET.namespace };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
};

const token = (id: string, data: Record<string, string> = {}, more: object = {}): KubeObject => {
  const fields = {
    "token-id": id,
    "token-secret": "my voice is my passcode",
    "usage-bootstrap-signing": "true",
    ...data,
  };
  const encoded = Object.entries(fields).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  const metadata = { name: `bootstrap-token-${id}`, namespace: "kube-system", ...more };
  const type = "bootstrap.kubernetes.io/token";
  return { apiVersion: "v1", kind: "Secret", metadata, type, data: Object.fromEntries(encoded) };
};

const setUp = () => {
  const bench = createControllerBench();
  bench.start(createBootstrapSigner(bench.deps));
  const data = () => {
    const found = bench.reader.get(TARGET);
    return found && typed("ConfigMap", found).data;
  };
  return Object.assign(bench, { data });
};

describe("cluster-info", () => {
  test("is signed as kubeadm verifies it", async () => {
    const { create, clock, data } = setUp();
    await create("secrets", token("joshua"));
    await create("configmaps", info({ kubeconfig: CONTENT }));
    await clock.settle();
    expect(data()).toEqual({ kubeconfig: CONTENT, "jws-kubeconfig-joshua": SIGNATURE });
  });

  test("is signed anew when it changes, and by tokens that come and go", async () => {
    const { create, clock, writer, data } = setUp();
    await create("configmaps", info({ kubeconfig: "old", note: "kept" }));
    await create("secrets", token("aaaaaa"));
    await clock.settle();
    const before = data();
    await writer.update("configmaps", info({ ...before, kubeconfig: "new" }));
    await create("secrets", token("bbbbbb"));
    await clock.settle();
    const after = data();
    expect(Object.keys(after ?? {}).toSorted()).toEqual([
      ...["jws-kubeconfig-aaaaaa", "jws-kubeconfig-bbbbbb", "kubeconfig", "note"],
    ]);
    expect(after?.["jws-kubeconfig-aaaaaa"]).not.toBe(before?.["jws-kubeconfig-aaaaaa"]);
    await writer.remove({ resource: "secrets", namespace: "kube-system", name: "bootstrap-token-aaaaaa" });
    await clock.settle();
    expect(Object.keys(data() ?? {})).not.toContain("jws-kubeconfig-aaaaaa");
  });

  test("is written only when a signature changes", async () => {
    const { create, clock, writes } = setUp();
    await create("configmaps", info({ kubeconfig: CONTENT }));
    await create("secrets", token("joshua"));
    await create("secrets", token("abcdef", { "usage-bootstrap-signing": "false" }));
    await clock.advance(60_000);
    expect(writes.filter((write) => write.startsWith("update"))).toEqual(["update configmaps/cluster-info"]);
  });

  test.each<[string, KubeObject]>([
    ["does not allow it", token("abcdef", { "usage-bootstrap-signing": "yes" })],
    ["has expired", token("abcdef", { expiration: "2025-01-01T00:00:00Z" })],
    ["has an expiration that is no time", token("abcdef", { expiration: "tomorrow" })],
    ["has another ID than its name", token("abcdef", { "token-id": "fedcba" })],
    ["has no secret", token("abcdef", { "token-secret": "" })],
    ["has a name that is too long", token("abcdefg")],
    ["is elsewhere", token("abcdef", {}, { namespace: "default" })],
    ["is no token", { ...token("abcdef"), type: "Opaque" }],
  ])("is not signed by a token that %s", async (_what, secret) => {
    const { create, clock, data } = setUp();
    await create("configmaps", info({ kubeconfig: CONTENT }));
    await create("secrets", secret);
    await clock.settle();
    expect(data()).toEqual({ kubeconfig: CONTENT });
  });

  test("stays as it is where it has no kubeconfig, and is not made", async () => {
    const { create, clock, data, writes } = setUp();
    await create("secrets", token("joshua"));
    await clock.settle();
    expect(data()).toBeUndefined();
    await create("configmaps", info({ "jws-kubeconfig-joshua": "forged" }));
    await clock.settle();
    expect(data()).toEqual({ "jws-kubeconfig-joshua": "forged" });
    expect(writes.filter((write) => write.startsWith("update"))).toEqual([]);
  });
});
