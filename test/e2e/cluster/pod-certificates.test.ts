import { createPrivateKey, X509Certificate } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PodCertificateRequest } from "../../../src/api/gen/types.ts";
import { POD_CERTIFICATE_REQUESTS } from "../../../src/api/kube-resource.ts";
import { formatTime } from "../../../src/base/clock.ts";
import { createCertificateAuthority, signCertificateRequest } from "../../../src/pki/issue-certificate.ts";
import { type KeyedCertificate, readCertificate } from "../../../src/pki/read-certificate.ts";
import { clusterServersUnderTest } from "../../clusters/cluster-servers.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { credentialsOf } from "../../contract/api/credentials-of.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

/** kube-apiserver has them behind a gate that is off by default. */
const SERVERS = (await clusterServersUnderTest()).filter(({ isOurs }) => isOurs);

const GROUP = "/apis/certificates.k8s.io/v1beta1";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const REQUESTS = `${GROUP}/namespaces/default/podcertificaterequests`;
const SIGNER = "example.com/e2e";
const DENYING = "example.com/denying";
const HOUR_MS = 3_600_000;
const POLL_MS = 50;

/** A signer as anybody may write one: a user who may write the status, and sign for its name. */
interface TestSigner {
  readonly authority: KeyedCertificate;
  stop(): Promise<void>;
}

async function startSigner(world: ClusterNode): Promise<TestSigner> {
  const apiGroups = ["certificates.k8s.io"];
  const rules = [
    { apiGroups, resources: ["podcertificaterequests"], verbs: ["get", "list", "watch"] },
    { apiGroups, resources: ["podcertificaterequests/status"], verbs: ["update"] },
    { apiGroups, resources: ["signers"], resourceNames: [SIGNER, DENYING], verbs: ["sign"] },
  ];
  const name = "pod-signer";
  await world.api.object("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules });
  await world.api.object("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
  });
  const api = createApiClient(credentialsOf((await world.cluster.addUser(name, [])).kubeconfig));
  const authority = await createCertificateAuthority({ commonName: "e2e", days: 1, now: Date.now() - 60_000 });
  let isStopped = false;
  const work = async () => {
    while (!isStopped) {
      for (const item of (await api.list(`${GROUP}/podcertificaterequests`)).items) {
        const request = POD_CERTIFICATE_REQUESTS.read(item);
        if ((request.status?.conditions ?? []).length === 0) await answer(api, authority, request);
      }
      await delay(POLL_MS);
    }
  };
  const working = work();
  working.catch(() => undefined);
  return {
    authority,
    async stop() {
      isStopped = true;
      await working;
      api.close();
    },
  };
}

async function answer(api: ApiClient, authority: KeyedCertificate, request: PodCertificateRequest): Promise<void> {
  const { signerName } = request.spec;
  const because = { status: "True", reason: "E2E", message: "by the test", lastTransitionTime: formatTime(Date.now()) };
  const status =
    signerName === DENYING
      ? { conditions: [{ type: "Denied", ...because }] }
      : { conditions: [{ type: "Issued", ...because }], ...(await issue(authority, request)) };
  const { status: code, body } = await api.json("PUT", `${REQUESTS}/${request.metadata?.name}/status`, {
    ...request,
    status,
  });
  // A pod that is deleted takes its request along.
  if (code !== 200 && code !== 404 && code !== 409) throw new Error(`the status was refused: ${JSON.stringify(body)}`);
}

async function issue(authority: KeyedCertificate, { spec }: PodCertificateRequest) {
  const requestPem = `-----BEGIN CERTIFICATE REQUEST-----\n${spec.stubPKCS10Request}\n-----END CERTIFICATE REQUEST-----\n`;
  const [notBefore, notAfter] = [Date.now(), Date.now() + HOUR_MS + 60_000];
  const usages = ["digital signature", "client auth"];
  const leaf = await signCertificateRequest({ authority, requestPem, usages, notBefore, notAfter });
  const facts = readCertificate(leaf);
  return {
    certificateChain: `${leaf}${authority.certificatePem}`,
    notBefore: formatTime(facts.notBefore),
    notAfter: formatTime(facts.notAfter),
    beginRefreshAt: formatTime(facts.notBefore + HOUR_MS / 2),
  };
}

for (const server of SERVERS) {
  describe(`certificates of pods, on ${server.name}`, () => {
    let world: ClusterNode;
    let signer: TestSigner;
    beforeAll(async () => {
      world = await createClusterNode({ server });
      signer = await startSigner(world);
      await world.node.start(world.flags);
    });
    afterAll(async () => {
      await signer?.stop();
      await world?.destroy();
    });

    /** A pod with a volume at /v, of the certificate and the pod's own name. */
    const mounting = (name: string, podCertificate: object, spec: object = {}): object => {
      const items = [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }];
      const sources = [
        { downwardAPI: { items } },
        { podCertificate: { signerName: SIGNER, keyType: "ECDSAP256", maxExpirationSeconds: 7200, ...podCertificate } },
      ];
      const volumes = [{ name: "v", projected: { sources } }];
      return shellPod(name, RUN_FOR_EVER, { volumes, ...spec }, { volumeMounts: [{ name: "v", mountPath: "/v" }] });
    };
    const run = async (name: string, podCertificate: object, spec: object = {}): Promise<void> => {
      await world.create(mounting(name, podCertificate, spec));
      await world.pod(name, isRunning);
    };
    const requestsOf = async (name: string): Promise<PodCertificateRequest[]> => {
      const { items } = await world.api.list(REQUESTS, { fieldSelector: `spec.podName=${name}` });
      return items.map((item) => POD_CERTIFICATE_REQUESTS.read(item));
    };
    /** The leaf of a bundle, which is of the key, and was signed by the test. */
    const leafOf = (keyPem: string, chainPem: string): X509Certificate => {
      const leaf = new X509Certificate(chainPem);
      const authority = new X509Certificate(signer.authority.certificatePem);
      expect(leaf.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
      expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
      return leaf;
    };

    it.concurrent("are in one file, with the key, when the pod starts", async () => {
      await run("bundled", { credentialBundlePath: "bundle.pem", userAnnotations: { "example.com/for": "e2e" } });
      const bundle = await world.shell("bundled", "cat /v/bundle.pem");
      expect(bundle).toMatch(
        /^-----BEGIN PRIVATE KEY-----\n[^-]+-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n/,
      );
      leafOf(bundle, bundle);
      expect(await world.shell("bundled", "stat -L -c '%a %u:%g' /v/bundle.pem; cat /v/name")).toBe("644 0:0\nbundled");
      const { metadata } = await world.pod("bundled", isRunning);
      const [request, ...more] = await requestsOf("bundled");
      expect(more).toEqual([]);
      expect(request?.spec).toMatchObject({
        podUID: metadata?.uid,
        serviceAccountName: "default",
        nodeName: "e2e",
        maxExpirationSeconds: 7200,
        unverifiedUserAnnotations: { "example.com/for": "e2e" },
      });
    });

    it.concurrent.each([
      ["one user", { runAsUser: 1000 }, "600 1000:0"],
      ["a group", { fsGroup: 2000 }, "640 0:2000"],
    ])("are in two files, for %s alone where the pod says so", async (who, securityContext, mode) => {
      const name = `split-${who.replace(" ", "-")}`;
      const paths = { keyType: "ED25519", keyPath: "tls/key.pem", certificateChainPath: "tls/chain.pem" };
      await run(name, paths, { securityContext });
      expect(await world.shell(name, "stat -L -c '%a %u:%g' /v/tls/key.pem /v/tls/chain.pem")).toBe(
        `${mode}\n${mode}\n`,
      );
      const [key, chain] = [
        await world.shell(name, "cat /v/tls/key.pem"),
        await world.shell(name, "cat /v/tls/chain.pem"),
      ];
      expect(leafOf(key, chain).publicKey.asymmetricKeyType).toBe("ed25519");
      expect(chain).not.toContain("PRIVATE");
    });

    it.concurrent("that are denied keep their pod waiting, with events", async () => {
      await world.create(mounting("denied", { signerName: DENYING, credentialBundlePath: "bundle.pem" }));
      const why = 'reason="E2E"';
      const denial = await world.event("denied", { type: "Warning", reason: "Denied" });
      expect(denial.message).toMatch(
        /^PodCertificateRequest default\/req-\w+ was denied, reason="E2E", message="by the test"$/,
      );
      const message = `MountVolume.SetUp failed for volume "v" : PodCertificateRequest was permanently denied: ${why} message="by the test"`;
      await world.event("denied", { type: "Warning", reason: "FailedMount", message });
      const { status } = await world.pod("denied", (pod) => (pod.status?.containerStatuses ?? []).length > 0);
      expect(status?.containerStatuses?.[0]?.state?.waiting?.reason).toBe("ContainerCreating");
      await world.remove("denied", 0);
      await world.gone("denied");
    });

    it.concurrent("leave no request behind when their pod is gone", async () => {
      await run("gone", { credentialBundlePath: "bundle.pem" });
      expect(await requestsOf("gone")).toHaveLength(1);
      await world.remove("gone", 0);
      await world.gone("gone");
      await settlesOn(0, async () => (await requestsOf("gone")).length);
    });

    it("are replaced under a running pod, each with its own key", async () => {
      await run("renewed", { credentialBundlePath: "bundle.pem" });
      const before = await world.shell("renewed", "cat /v/bundle.pem");
      // Keys are in memory only: an agent that starts renews at once what a running one renews when its signer says.
      await world.node.stop();
      await world.node.start(world.flags);
      await settlesOn(false, async () => (await world.shell("renewed", "cat /v/bundle.pem")) === before);
      const after = await world.shell("renewed", "cat /v/bundle.pem");
      const [old, next] = [leafOf(before, before), leafOf(after, after)];
      expect(next.publicKey.equals(old.publicKey)).toBe(false);
      const { status } = await world.pod("renewed", isRunning);
      expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
      expect(await requestsOf("renewed")).toHaveLength(2);
    });
  });
}
