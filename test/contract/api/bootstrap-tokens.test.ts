import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startRestartableCluster } from "../../clusters/restartable-cluster.ts";
import { type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf } from "./credentials-of.ts";

const INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings";
const SECRETS = "/api/v1/namespaces/kube-system/secrets";
const SOON = { timeout: 10_000, interval: 20 };
const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

describe("cluster-info, by which machines find and trust the API server", () => {
  let cluster: Awaited<ReturnType<typeof startRestartableCluster>>;
  let admin: ApiClient;
  let stranger: ApiClient;
  const open = () => {
    admin?.close();
    stranger?.close();
    const credentials = credentialsOf(cluster.kubeconfig);
    const { url, caPem } = credentials;
    admin = createApiClient(credentials);
    stranger = createApiClient({ url, caPem });
  };
  beforeAll(async () => {
    cluster = await startRestartableCluster();
    open();
    await admin.object("POST", SECRETS, {
      metadata: { name: `bootstrap-token-${TOKEN.id}` },
      type: "bootstrap.kubernetes.io/token",
      stringData: { "token-id": TOKEN.id, "token-secret": TOKEN.secret, "usage-bootstrap-signing": "true" },
    });
  });
  afterAll(async () => {
    admin.close();
    stranger.close();
    await cluster.stop();
  });
  const read = async (client: ApiClient) => {
    const data = (await client.object("GET", INFO))["data"];
    return new Map(Object.entries(typeof data === "object" && data !== null ? data : {}));
  };

  it("is read without credentials, and signed by the token", async () => {
    await expect.poll(async () => (await read(stranger)).get(`jws-kubeconfig-${TOKEN.id}`), SOON).toBeDefined();
    const data = await read(stranger);
    const kubeconfig = String(data.get("kubeconfig"));
    const [header = "", content, signature] = String(data.get(`jws-kubeconfig-${TOKEN.id}`)).split(".");
    expect(content).toBe("");
    const signed = `${header}.${Buffer.from(kubeconfig).toString("base64url")}`;
    expect(signature).toBe(createHmac("sha256", TOKEN.secret).update(signed).digest("base64url"));
    const { url, caPem } = credentialsOf(cluster.kubeconfig);
    const authority = Buffer.from(caPem).toString("base64");
    expect(parse(kubeconfig)).toMatchObject({
      clusters: [{ cluster: { server: url, "certificate-authority-data": authority } }],
    });
  });

  it("is all that strangers read there", async () => {
    for (const path of [
      "/api/v1/namespaces/kube-public/configmaps",
      INFO.replace("cluster-info", "kube-root-ca.crt"),
    ]) {
      expect((await stranger.json("GET", path)).status).toBe(403);
    }
    expect((await stranger.patch("merge", INFO, { data: { kubeconfig: "forged" } })).status).toBe(403);
  });

  it("stays closed once somebody has closed it, and is put right at the next start", async () => {
    await admin.json("DELETE", `${BINDINGS}/kubeadm:bootstrap-signer-clusterinfo`);
    await admin.patch("merge", INFO, { data: { kubeconfig: "forged" } });
    await cluster.stopServer();
    await cluster.startServer();
    open();
    expect((await stranger.json("GET", INFO)).status).toBe(403);
    expect((await read(admin)).get("kubeconfig")).toContain(cluster.url);
  });
});
