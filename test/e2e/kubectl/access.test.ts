import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { newestKubectl } from "./kubectl-binaries.ts";
import { rowsOf } from "./tables.ts";

const { minor } = newestKubectl();
const BOT = "system:serviceaccount:team:bot";

describe("kubectl with other people's credentials", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    await kubectl.ok("create namespace team");
    await kubectl.ok("create serviceaccount bot -n team");
    await kubectl.ok("create role reader --verb=get,list --resource=pods -n team");
    await kubectl.ok("create rolebinding readers --role=reader --serviceaccount=team:bot -n team");
  });
  afterAll(async () => await cluster?.stop());

  /** The administrator's kubeconfig with another user in it. */
  const kubectlAs = async (name: string, user: object): Promise<Kubectl> => {
    const path = join(cluster.directory, `${name}.kubeconfig`);
    const server = { server: cluster.url, "certificate-authority-data": await authority() };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "nodelet", cluster: server }],
      users: [{ name, user }],
      contexts: [{ name, context: { cluster: "nodelet", user: name } }],
      "current-context": name,
    };
    await writeFile(path, JSON.stringify(config));
    return cluster.kubectlWith(path);
  };
  const authority = async () =>
    await kubectl.ok("config view --raw -o jsonpath={.clusters[0].cluster.certificate-authority-data}");

  /** `create token` of a kubectl that has none yet. */
  const tokenOf = async (account: string): Promise<string> => {
    if (minor >= 24) return (await kubectl.ok(`create token ${account} -n team`)).trim();
    const input = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const path = `/api/v1/namespaces/team/serviceaccounts/${account}/token`;
    const answer = await kubectl.ok(`create --raw ${path} -f -`, { input });
    return /"token":"([^"]+)"/.exec(answer)?.[1] ?? "";
  };

  it("says what the administrator and others may do", async () => {
    expect(await kubectl.ok("auth can-i * *")).toBe("yes\n");
    expect(await kubectl.ok(`auth can-i list pods -n team --as ${BOT}`)).toBe("yes\n");
    expect(await kubectl.run(`auth can-i delete pods -n team --as ${BOT}`)).toMatchObject({ code: 1, stdout: "no\n" });
    expect(await kubectl.run(`auth can-i list pods --as ${BOT}`)).toMatchObject({ code: 1, stdout: "no\n" });
    const listed = rowsOf(await kubectl.ok(`auth can-i --list -n team --as ${BOT}`));
    expect(listed[0]).toBe("Resources | Non-Resource URLs | Resource Names | Verbs");
    expect(listed).toContain("pods | [] | [] | [get list]");
    expect(listed).toContain("selfsubjectaccessreviews.authorization.k8s.io | [] | [] | [create]");
  });

  it("lets a service account in with its token, and no further than its roles", async () => {
    const bot = await kubectlAs("bot", { token: await tokenOf("bot") });
    expect(await bot.run("get pods -n team")).toEqual({
      code: 0,
      stdout: "",
      stderr: "No resources found in team namespace.\n",
    });
    expect(await bot.ok("auth can-i get pods -n team")).toBe("yes\n");
    expect(await bot.fails("get pods -n default")).toBe(
      `Error from server (Forbidden): pods is forbidden: User "${BOT}" cannot list resource "pods" in API group "" in the namespace "default"\n`,
    );
    expect(await bot.fails("get nodes")).toBe(
      `Error from server (Forbidden): nodes is forbidden: User "${BOT}" cannot list resource "nodes" in API group "" at the cluster scope\n`,
    );
    expect(await bot.fails("create configmap mine -n team")).toContain(
      `configmaps is forbidden: User "${BOT}" cannot create resource "configmaps" in API group "" in the namespace "team"\n`,
    );
    const stranger = await kubectlAs("stranger", { token: "not-a-token" });
    expect(await stranger.fails("get pods")).toBe("error: You must be logged in to the server (Unauthorized)\n");
  });

  it.runIf(minor >= 28)("says who somebody is", async () => {
    expect(rowsOf(await kubectl.ok("auth whoami"))).toEqual(
      expect.arrayContaining(["Username | kubernetes-admin", "Groups | [system:masters system:authenticated]"]),
    );
    const bot = await kubectlAs("bot", { token: await tokenOf("bot") });
    const groups = "[system:serviceaccounts system:serviceaccounts:team system:authenticated]";
    expect(rowsOf(await bot.ok("auth whoami"))).toEqual(
      expect.arrayContaining([`Username | ${BOT}`, `Groups | ${groups}`]),
    );
  });

  it.runIf(minor >= 24)("makes tokens only for whom there is, and for long enough", async () => {
    expect(await kubectl.fails("create token nobody -n team")).toBe(
      'error: failed to create token: serviceaccounts "nobody" not found\n',
    );
    expect(await kubectl.fails("create token bot -n team --duration=1m")).toContain(
      "spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes",
    );
    const token = await kubectl.ok("create token bot -n team --audience=vault --duration=20m");
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ aud: ["vault"], sub: BOT });
  });

  it("signs an approved certificate request, whose certificate then is a login", async () => {
    const [key, request] = [join(cluster.directory, "jane.key"), join(cluster.directory, "jane.csr")];
    const flags = ["-new", "-nodes", "-newkey", "rsa:2048", "-subj", "/O=developers/CN=jane"];
    await promisify(execFile)("openssl", ["req", ...flags, "-keyout", key, "-out", request]);
    const order = (name: string, encoded: string) => ({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name },
      spec: { request: encoded, signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] },
    });
    const encoded = (await readFile(request)).toString("base64");
    for (const name of ["jane", "joe"]) await kubectl.ok("create -f -", { input: order(name, encoded) });
    expect(await kubectl.ok("certificate approve jane")).toBe(
      "certificatesigningrequest.certificates.k8s.io/jane approved\n",
    );
    expect(await kubectl.ok("certificate deny joe")).toBe("certificatesigningrequest.certificates.k8s.io/joe denied\n");
    const certificate = await issued("jane");
    expect(rowsOf(await kubectl.ok("get csr"))).toEqual([
      "NAME | AGE | SIGNERNAME | REQUESTOR | REQUESTEDDURATION | CONDITION",
      "jane | AGE | kubernetes.io/kube-apiserver-client | kubernetes-admin | <none> | Approved,Issued",
      "joe | AGE | kubernetes.io/kube-apiserver-client | kubernetes-admin | <none> | Denied",
    ]);
    const user = {
      "client-certificate-data": certificate,
      "client-key-data": (await readFile(key)).toString("base64"),
    };
    const jane = await kubectlAs("jane", user);
    expect(await jane.fails("get pods")).toContain('User "jane" cannot list resource "pods"');
    await kubectl.ok("create clusterrolebinding viewers --clusterrole=view --group=developers");
    expect(await jane.ok("get configmaps -o name")).toBe("configmap/kube-root-ca.crt\n");
    expect(await jane.fails("get secrets")).toContain('User "jane" cannot list resource "secrets"');
  });

  /** The certificate of a request, once its signer has put it there. */
  const issued = async (name: string): Promise<string> => {
    const watch = kubectl.start(`get csr ${name} -w`);
    await watch.prints("Issued");
    await watch.stop();
    return await kubectl.ok(`get csr ${name} -o jsonpath={.status.certificate}`);
  };
});
