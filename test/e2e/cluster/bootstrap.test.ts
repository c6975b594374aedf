import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CERTIFICATE_SIGNING_REQUESTS } from "../../../src/api/kube-resource.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { runProgram } from "../program.ts";
import { type ClusterNode, createClusterNode, NODE_NAME } from "./cluster-node.ts";

const SERVERS = await clusterServersUnderTest();

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

describe.each(SERVERS)("a node that joins with a bootstrap token, on $name", (server) => {
  let world: ClusterNode;
  let bootstrapPath: string;
  let kubeconfigPath: string;
  let flags: string[];
  beforeAll(async () => {
    world = await createClusterNode({ server, configuration: { rotateCertificates: true } });
    bootstrapPath = join(world.node.directory, "bootstrap.kubeconfig");
    kubeconfigPath = join(world.node.directory, "made.kubeconfig");
    const certDirectory = join(world.node.directory, "made-pki");
    flags = [
      `--bootstrap-kubeconfig=${bootstrapPath}`,
      `--kubeconfig=${kubeconfigPath}`,
      `--cert-dir=${certDirectory}`,
    ];
  });
  afterAll(async () => await world?.destroy());

  const writeBootstrap = async (token: string): Promise<void> => {
    const { url, caPem } = credentialsOf(world.cluster.kubeconfig);
    const authority = Buffer.from(caPem).toString("base64");
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": authority } }],
      users: [{ name: "u", user: { token } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(bootstrapPath, JSON.stringify(config), { mode: 0o600 });
  };
  const readRequests = async () =>
    (await world.api.list(REQUESTS)).items.map((item) => CERTIFICATE_SIGNING_REQUESTS.read(item));
  const kubeletFlags = () => [
    `--container-runtime-endpoint=${world.node.containerd.endpoint}`,
    `--root-dir=${join(world.node.directory, "other")}`,
    `--hostname-override=${NODE_NAME}`,
    "--healthz-port=0",
    "--fail-swap-on=false",
    "--make-iptables-util-chains=false",
  ];

  it("says what is missing where there is neither a kubeconfig nor a way to get one", async () => {
    const path = join(world.node.directory, "absent.kubeconfig");
    const { code, stderr } = await runProgram("kubelet", ...kubeletFlags(), `--kubeconfig=${path}`);
    expect(code).toBe(1);
    expect(stderr).toContain(path);
    expect(stderr).toContain("write one, or name a --bootstrap-kubeconfig to get one with");
  });

  it("ends with the server's word where its token is not known", async () => {
    await writeBootstrap("zzzzzz.0000000000000000");
    const { code, stderr } = await runProgram("kubelet", ...kubeletFlags(), ...flags);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Unauthorized/);
    expect(stderr).not.toContain("0000000000000000");
    expect(await readRequests()).toEqual([]);
  });

  const itSigned = it.skipIf(!server.hasControllers);

  itSigned(
    "asks for a certificate, gets it signed, and is Ready with it (kube-apiserver alone signs nothing)",
    async () => {
      await world.cluster.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: `bootstrap-token-${TOKEN.id}`, namespace: "kube-system" },
        type: "bootstrap.kubernetes.io/token",
        stringData: {
          "token-id": TOKEN.id,
          "token-secret": TOKEN.secret,
          "usage-bootstrap-authentication": "true",
          "auth-extra-groups": "system:bootstrappers:nodes",
        },
      });
      await writeBootstrap(`${TOKEN.id}.${TOKEN.secret}`);
      await world.node.start(flags);
      await world.create(shellPod("web", RUN_FOR_EVER));
      await world.pod("web", isRunning);
      const [request, ...others] = await readRequests();
      expect(others).toEqual([]);
      expect(request?.spec).toMatchObject({
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        username: `system:bootstrap:${TOKEN.id}`,
        usages: expect.arrayContaining(["digital signature", "client auth"]),
      });
      expect(request?.status?.conditions).toMatchObject([{ type: "Approved", status: "True" }]);
      const kubeconfig = await readFile(kubeconfigPath, "utf8");
      expect(kubeconfig).toContain("kubelet-client-current.pem");
      expect(kubeconfig).not.toContain(TOKEN.secret);
      expect((await stat(kubeconfigPath)).mode & 0o777).toBe(0o600);
      expect(world.node.log()).not.toContain(TOKEN.secret);
    },
  );

  itSigned("needs the token no more when it is started again (kube-apiserver alone signs nothing)", async () => {
    await world.node.stop();
    await world.api.object("DELETE", `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${TOKEN.id}`);
    await world.node.start(flags);
    await world.create(shellPod("again", RUN_FOR_EVER));
    await world.pod("again", isRunning);
    expect(await readRequests()).toHaveLength(1);
  });
});
