import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isApiError } from "../../src/api/api-error.ts";
import { CERTIFICATE_SIGNING_REQUESTS, NODES } from "../../src/api/kube-resource.ts";
import type { Clock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createTimeline } from "../../src/base/timeline.ts";
import { createLinuxHost } from "../../src/host/linux/create-linux-host.ts";
import { createHttpKubeClient, type HttpKubeClient } from "../../src/kube/http/create-http-kube-client.ts";
import { readKubeconfig } from "../../src/kube/kubeconfig.ts";
import { bootstrapClientCertificate } from "../../src/node/cluster/certificates/bootstrap-client-certificate.ts";
import {
  type CurrentCertificate,
  createCertificateRotation,
  type RotationOptions,
} from "../../src/node/cluster/certificates/certificate-rotation.ts";
import { createEventSink } from "../../src/node/cluster/events/event-sink.ts";
import { readCertificate } from "../../src/pki/read-certificate.ts";
import { clusterServersUnderTest } from "../clusters/cluster-servers.ts";
import type { ServedCluster } from "../clusters/node-cluster.ts";
import { type ApiClient, createApiClient } from "./api/client.ts";
import { credentialsOf } from "./api/credentials-of.ts";

const host = createLinuxHost();
const DAY = 86_400_000;
const WAIT = { timeout: 20_000 };
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const EVENTS = "/api/v1/namespaces/default/events";
const SUBJECT = { commonName: "system:node:node-1", organizations: ["system:nodes"] };

const SERVERS = await clusterServersUnderTest();
/** From a bootstrap token to a node that renews its certificates, over the real client. */
for (const server of SERVERS) {
  const title = `a node that joins by a bootstrap token, on ${server.name} (kube-apiserver alone signs nothing)`;
  describe.skipIf(!server.hasControllers)(title, () => {
    let cluster: ServedCluster;
    let admin: ApiClient;
    let directory: string;
    const closing: Array<() => Promise<void>> = [];

    beforeAll(async () => {
      cluster = await server.start();
      admin = createApiClient(credentialsOf(cluster.kubeconfig));
    });
    afterAll(async () => {
      admin.close();
      await cluster.stop();
    });
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), "nodelet-bootstrap-"));
    });
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      await rm(directory, { recursive: true });
    });

    const kubeconfigPath = () => join(directory, "kubelet.conf");
    const connect = async (path: string): Promise<HttpKubeClient> => {
      const connection = await readKubeconfig(path, host.files);
      const options = { userAgent: "contract/1.0", qps: 0, burst: 0, timeoutMs: 10_000 };
      const client = createHttpKubeClient({ ...host, log: silentLog, connection }, options);
      closing.push(() => client.close());
      return client;
    };

    /** Adds the token to the cluster; returns the path of a kubeconfig with it. */
    const addToken = async (id: string): Promise<string> => {
      const stringData = {
        "token-id": id,
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
      };
      const name = `bootstrap-token-${id}`;
      const secret = { metadata: { name }, type: "bootstrap.kubernetes.io/token", stringData };
      await admin.object("POST", "/api/v1/namespaces/kube-system/secrets", secret);
      const path = join(directory, "bootstrap-kubelet.conf");
      const { url, caPem } = credentialsOf(cluster.kubeconfig);
      const authority = Buffer.from(caPem).toString("base64");
      const config = {
        clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": authority } }],
        users: [{ name: "u", user: { token: `${id}.0123456789abcdef` } }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        "current-context": "x",
      };
      await writeFile(path, JSON.stringify(config));
      return path;
    };
    const bootstrap = async (bootstrapPath: string) =>
      await bootstrapClientCertificate(
        {
          ...host,
          log: silentLog,
          readBootstrap: async () => ({
            client: await connect(bootstrapPath),
            connection: await readKubeconfig(bootstrapPath, host.files),
          }),
        },
        { nodeName: "node-1", certDirectory: join(directory, "pki"), kubeconfigPath: kubeconfigPath() },
        AbortSignal.timeout(WAIT.timeout),
      );
    /** Runs until it has told of the certificate that is wanted. */
    const rotate = async (
      options: Pick<RotationOptions, "signerName" | "usages" | "subject" | "pairName">,
      { clock, isWanted }: { clock: Clock; isWanted: (certificate: CurrentCertificate) => boolean },
    ): Promise<CurrentCertificate> => {
      const client = await connect(kubeconfigPath());
      const rotation = createCertificateRotation(
        { ...host, clock, log: silentLog, client },
        { ...options, certDirectory: join(directory, "pki") },
      );
      const stopping = new AbortController();
      let ended: Promise<void> | undefined;
      try {
        return await new Promise((resolve, reject) => {
          rotation.subscribe((certificate) => {
            if (isWanted(certificate)) resolve(certificate);
          });
          ended = rotation.run(AbortSignal.any([stopping.signal, AbortSignal.timeout(WAIT.timeout)]));
          ended.then(() => reject(new Error("no certificate came")), reject);
        });
      } finally {
        stopping.abort();
        await ended;
      }
    };

    it("gets a certificate by which it is that node and no other", async () => {
      const bootstrapPath = await addToken("aaaaaa");
      expect(await bootstrap(bootstrapPath)).toBe("issued");
      expect((await stat(kubeconfigPath())).mode & 0o777).toBe(0o600);
      const node = await connect(kubeconfigPath());
      const make = (name: string) => node.create(NODES, { metadata: { name } });
      expect(await make("node-1")).toMatchObject({ metadata: { name: "node-1" } });
      await expect(make("node-2")).rejects.toSatisfy((error) => isApiError(error, "Forbidden"));
      const before = await readFile(kubeconfigPath(), "utf8");
      expect(await bootstrap(bootstrapPath)).toBe("kept");
      expect(await readFile(kubeconfigPath(), "utf8")).toBe(before);
    });

    it("is told so when the token is of no use", async () => {
      const bootstrapPath = await addToken("bbbbbb");
      await admin.object("DELETE", "/api/v1/namespaces/kube-system/secrets/bootstrap-token-bbbbbb");
      await expect
        .poll(() => bootstrap(bootstrapPath).catch((error: unknown) => error), WAIT)
        .toMatchObject({
          code: "refused",
          message: "cannot create certificate signing request: Unauthorized",
        });
    });

    it("renews its client certificate by itself, and is approved as itself", async () => {
      await bootstrap(await addToken("cccccc"));
      const pair = join(directory, "pki/kubelet-client-current.pem");
      const first = await readFile(pair, "utf8");
      const { notBefore, notAfter } = readCertificate(first);
      const laterClock = { ...host.clock, now: () => Date.now() + 0.95 * (notAfter - notBefore) };
      const certificate = await rotate(
        {
          signerName: "kubernetes.io/kube-apiserver-client-kubelet",
          usages: ["digital signature", "client auth"],
          subject: () => SUBJECT,
          pairName: "kubelet-client",
        },
        { clock: laterClock, isWanted: ({ certificatePem }) => !first.startsWith(certificatePem.trimEnd()) },
      );
      expect(await readFile(pair, "utf8")).toContain(certificate.keyPem);
      // The kubeconfig names the file, whose content is another now.
      const node = await connect(kubeconfigPath());
      expect((await node.list(CERTIFICATE_SIGNING_REQUESTS)).items.length).toBeGreaterThan(0);
    });

    it("gets a serving certificate once somebody has approved it", async () => {
      await bootstrap(await addToken("dddddd"));
      const issued = rotate(
        {
          signerName: "kubernetes.io/kubelet-serving",
          usages: ["digital signature", "server auth"],
          subject: () => ({ ...SUBJECT, dnsNames: ["node-1"], ipAddresses: ["127.0.0.1"] }),
          pairName: "kubelet-server",
        },
        { clock: host.clock, isWanted: () => true },
      );
      issued.catch(() => undefined);
      const query = { fieldSelector: "spec.signerName=kubernetes.io/kubelet-serving" };
      await expect.poll(async () => (await admin.list(REQUESTS, query)).items.length, WAIT).toBe(1);
      for (const { metadata } of (await admin.list(REQUESTS, query)).items) {
        const request = await admin.object("GET", `${REQUESTS}/${metadata.name}`);
        const condition = { type: "Approved", status: "True", reason: "Contract", message: "by the test" };
        await admin.object("PUT", `${REQUESTS}/${metadata.name}/approval`, {
          ...request,
          status: { conditions: [condition] },
        });
      }
      const certificate = await issued;
      expect(certificate.notAfter).toBeGreaterThan(Date.now() + DAY);
      expect(readCertificate(certificate.certificatePem)).toMatchObject({
        commonName: "system:node:node-1",
        dnsNames: ["node-1"],
        ipAddresses: ["127.0.0.1"],
      });
    });

    it("tells of its pods and of itself in events that are counted and combined", async () => {
      await bootstrap(await addToken("eeeeee"));
      const client = await connect(kubeconfigPath());
      const timeline = createTimeline(host.clock);
      const sink = createEventSink(
        { ...host, log: silentLog, client, timeline, apiPodOf: () => undefined },
        { nodeName: "node-1", qps: 50, burst: 100 },
      );
      const stopping = new AbortController();
      const ended = sink.run(stopping.signal);
      const pod = { uid: "u1", name: "web", namespace: "default" };
      const record = (message: string) =>
        timeline.record(pod, { type: "Warning", reason: "Failed", message, container: "main" });
      // Controllers write events about nodes too.
      const list = async (kind: string) => {
        const { items } = await admin.list(EVENTS, { fieldSelector: `involvedObject.kind=${kind},source=kubelet` });
        return items.map((event) => `${event["reason"]} ×${event["count"]} ${event["message"]}`).sort();
      };
      record("one");
      await sink.flush(10_000);
      record("one");
      sink.recordNode({ type: "Normal", reason: "Starting", message: "Starting kubelet." });
      await sink.flush(10_000);
      expect(await list("Pod")).toEqual(["Failed ×2 one"]);
      expect(await list("Node")).toEqual(["Starting ×1 Starting kubelet."]);
      for (const { metadata } of (await admin.list(EVENTS)).items) {
        await admin.object("DELETE", `${EVENTS}/${metadata.name}`);
      }
      // The server forgets events after an hour: what is repeated then begins anew, with its count.
      record("one");
      await sink.flush(10_000);
      expect(await list("Pod")).toEqual(["Failed ×3 one"]);
      for (let error = 1; error <= 11; error++) record(`error ${error}`);
      await sink.flush(10_000);
      expect((await list("Pod")).filter((event) => event.includes("combined"))).toEqual([
        "Failed ×3 (combined from similar events): error 11",
      ]);
      stopping.abort();
      await ended;
    });
  });
}
