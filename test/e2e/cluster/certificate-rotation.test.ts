import { lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CERTIFICATE_SIGNING_REQUESTS, LEASES, NODES } from "../../../src/api/kube-resource.ts";
import { silentLog } from "../../../src/base/log.ts";
import { issueKubeconfig } from "../../../src/cluster/control-plane/issue-kubeconfig.ts";
import { serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import type { ClusterCertificates } from "../../../src/pki/cluster-certificates.ts";
import { issueCertificate } from "../../../src/pki/issue-certificate.ts";
import { readCertificate } from "../../../src/pki/read-certificate.ts";
import { createCertificates } from "../../../src/testing/cluster-credentials.ts";
import type { NodeCluster } from "../../clusters/node-cluster.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createNodeOf, NODE_NAME } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE_NAME}`;
const DAY_MS = 86_400_000;

/** A cluster whose authority is the test's as well. */
async function startCluster(certificates: ClusterCertificates): Promise<NodeCluster> {
  const options = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "0.0.0" };
  const { url, kubeconfig, ...running } = await serveControlPlane(options, {
    journal: createMemoryJournal(),
    certificates,
    log: silentLog,
  });
  await Promise.race([running.ready, running.ended]);
  return {
    url,
    kubeconfig,
    async addUser(name, groups = []) {
      return { kubeconfig: await issueKubeconfig(certificates, { url, name, groups, lifetimeMs: DAY_MS }) };
    },
    stop: async () => await running.close(),
  };
}

describe("the node's client certificate", () => {
  let certificates: ClusterCertificates;
  let world: ClusterNode<NodeCluster>;
  let directory: string;
  let current: string;
  let kubeconfigPath: string;
  beforeAll(async () => {
    certificates = await createCertificates();
    const configuration = { rotateCertificates: true, nodeStatusUpdateFrequency: "1s", nodeLeaseDurationSeconds: 4 };
    world = await createNodeOf(await startCluster(certificates), { configuration });
    directory = join(world.node.directory, "rotated-pki");
    current = join(directory, "kubelet-client-current.pem");
    kubeconfigPath = join(world.node.directory, "rotated.kubeconfig");
    await mkdir(directory);
    const { url } = world.cluster;
    const authority = Buffer.from(certificates.authority.certificatePem).toString("base64");
    await writeFile(
      kubeconfigPath,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": authority } }],
        users: [{ name: "u", user: { "client-certificate": current, "client-key": current } }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        "current-context": "x",
      }),
    );
  });
  afterAll(async () => await world?.destroy());

  const flags = () => [`--kubeconfig=${kubeconfigPath}`, `--cert-dir=${directory}`];
  /** Puts a certificate where a kubelet keeps its own; returns when it ends. */
  const give = async (name: string, fromMs: number, toMs: number): Promise<number> => {
    const now = Date.now();
    const { certificatePem, keyPem } = await issueCertificate({
      commonName: `system:node:${NODE_NAME}`,
      organizations: ["system:nodes"],
      usages: ["client"],
      authority: certificates.authority,
      notBefore: now + fromMs,
      notAfter: now + toMs,
    });
    const path = join(directory, name);
    await writeFile(path, certificatePem + keyPem, { mode: 0o600 });
    await symlink(path, current);
    return now + toMs;
  };
  const readRequests = async () =>
    (await world.api.list(REQUESTS)).items.map((item) => CERTIFICATE_SIGNING_REQUESTS.read(item));

  it("is renewed while the node runs, and nobody notices", async () => {
    // Due after 70 to 90 % of its life: some seconds from now.
    const first = "kubelet-client-2026-01-01-00-00-00.pem";
    const endsAt = await give(first, -60_000, 35_000);
    await world.node.start(flags());
    await world.create(shellPod("before", RUN_FOR_EVER, { terminationGracePeriodSeconds: 5 }));
    await world.pod("before", isRunning);
    expect(await readRequests()).toEqual([]);
    expect(await readlink(current)).toBe(join(directory, first));
    const { resourceVersion } = await world.api.list("/api/v1/nodes");
    const stream = await world.api.watch("/api/v1/nodes", { resourceVersion });

    const isMoved = async () => (await readlink(current)) !== join(directory, first);
    await settlesOn(true, isMoved, 40_000);
    await delay(Math.max(0, endsAt + 1_000 - Date.now()));
    await world.create(shellPod("after", RUN_FOR_EVER));
    await world.pod("after", isRunning);
    await world.remove("before");
    await world.gone("before");
    const renewed = Date.parse(LEASES.read(await world.api.object("GET", LEASE)).spec?.renewTime ?? "");
    expect(Date.now() - renewed).toBeLessThan(4_000);

    await world.api.patch("merge", `/api/v1/nodes/${NODE_NAME}`, { metadata: { labels: { marked: "yes" } } });
    const versions = await stream.until(({ object }) => object.metadata.labels?.["marked"] === "yes");
    stream.close();
    const readiness = versions.map(({ object }) => {
      return NODES.read(object).status?.conditions?.find(({ type }) => type === "Ready")?.status;
    });
    expect(new Set(readiness)).toEqual(new Set(["True"]));
    expect(world.node.log()).not.toMatch(/Unauthorized|certificate has expired/);
  });

  it("was asked for by the node itself, approved and signed, and is where a kubelet keeps it", async () => {
    const [request, ...others] = await readRequests();
    expect(others).toEqual([]);
    expect(request?.spec).toMatchObject({
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      username: `system:node:${NODE_NAME}`,
      usages: ["digital signature", "client auth"],
    });
    expect(request?.status?.conditions).toMatchObject([{ type: "Approved", status: "True" }]);
    expect((await lstat(current)).isSymbolicLink()).toBe(true);
    const path = await readlink(current);
    expect(path.slice(directory.length + 1)).toMatch(/^kubelet-client-\d{4}(-\d\d){5}\.pem$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, "utf8");
    expect(text).toMatch(/-----BEGIN CERTIFICATE-----.*-----BEGIN (EC )?PRIVATE KEY-----/s);
    const { commonName, organizations, notAfter } = readCertificate(text);
    expect({ commonName, organizations }).toEqual({
      commonName: `system:node:${NODE_NAME}`,
      organizations: ["system:nodes"],
    });
    expect(notAfter - Date.now()).toBeGreaterThan(300 * DAY_MS);
    expect((await readdir(directory)).filter((name) => name.startsWith("kubelet-client"))).toHaveLength(3);
  });

  it("is what the next run begins with, without asking again", async () => {
    const path = await readlink(current);
    await world.node.stop();
    await world.node.start(flags());
    await world.create(shellPod("again", RUN_FOR_EVER));
    await world.pod("again", isRunning);
    expect(await readlink(current)).toBe(path);
    expect(await readRequests()).toHaveLength(1);
  });
});
