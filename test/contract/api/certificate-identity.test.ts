import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:tls";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { silentLog } from "../../../src/base/log.ts";
import { issueKubeconfig } from "../../../src/cluster/control-plane/issue-kubeconfig.ts";
import { serveControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { createMemoryJournal } from "../../../src/journal/memory-journal.ts";
import { type ForgedAttribute, forgedAttribute, forgeRequest } from "../../../src/pki/__fixtures__/forged-request.ts";
import { createCertificates, createRenewedCertificates } from "../../../src/testing/cluster-credentials.ts";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { type ApiClient, type Credentials, createApiClient } from "./client.ts";
import { credentialsOf } from "./credentials-of.ts";

const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

describe("a certificate signing request", () => {
  let cluster: TestCluster;
  let admin: ApiClient;
  beforeAll(async () => {
    cluster = await startCluster();
    admin = createApiClient(credentialsOf(cluster.kubeconfig));
    return async () => {
      admin.close();
      await cluster.stop();
    };
  });

  const create = async (client: ApiClient, name: string, { subject, signer }: { subject: Subject; signer: string }) => {
    const spec = {
      request: Buffer.from(forgeRequest(subject)).toString("base64"),
      signerName: `kubernetes.io/${signer}`,
      usages: ["digital signature", "client auth"],
    };
    const kind = { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" };
    return await client.json("POST", REQUESTS, { ...kind, metadata: { name }, spec });
  };
  type Subject = readonly (readonly ForgedAttribute[])[];

  it.each(["numericString", "bmpString", "universalString", "visibleString", "videotexString"] as const)(
    "smuggles no system:masters past admission as a %s",
    async (type) => {
      const name = `masters-${type.toLowerCase()}`;
      const subject = [
        [forgedAttribute("commonName", "jane")],
        [forgedAttribute("organization", "system:masters", type)],
      ];
      const answer = await create(admin, name, { subject, signer: "kube-apiserver-client" });
      expect(answer).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining("failed to parse CSR") },
      });
    },
  );

  it("with two common names is neither approved nor signed, whichever of them its author may have", async () => {
    const subject = [
      [forgedAttribute("organization", "system:nodes")],
      [forgedAttribute("commonName", "system:node:victim")],
      [forgedAttribute("commonName", "system:node:mine")],
    ];
    const signer = "kube-apiserver-client-kubelet";
    const node = createApiClient(
      credentialsOf((await cluster.addUser("system:node:mine", ["system:nodes"])).kubeconfig),
    );
    expect(await create(node, "of-a-node", { subject, signer })).toMatchObject({ status: 403 });
    node.close();
    // The administrator may have the certificate of any node, so that only the names are in the way.
    expect(await create(admin, "two-names", { subject, signer })).toMatchObject({ status: 201 });
    const one = subject.filter((_, index) => index !== 1);
    expect(await create(admin, "one-name", { subject: one, signer })).toMatchObject({ status: 201 });
    // The approver takes requests in their order, so that it has seen the first one when the second one is approved.
    const statusOf = async (name: string) => (await admin.object("GET", `${REQUESTS}/${name}`))["status"];
    await vi.waitFor(async () => expect(await statusOf("one-name")).toHaveProperty("certificate"), { timeout: 30_000 });
    expect(await statusOf("two-names")).not.toHaveProperty("conditions");
    const stored = await admin.object("GET", `${REQUESTS}/two-names`);
    const condition = { type: "Approved", status: "True", reason: "Test", message: "by a person" };
    await admin.object("PUT", `${REQUESTS}/two-names/approval`, { ...stored, status: { conditions: [condition] } });
    await vi.waitFor(
      async () => {
        const status = await statusOf("two-names");
        expect(isRecord(status) && status["conditions"]).toContainEqual(
          expect.objectContaining({
            type: "Failed",
            message: "unable to parse csr: the subject has more than one common name",
          }),
        );
      },
      { timeout: 30_000 },
    );
    expect(await statusOf("two-names")).not.toHaveProperty("certificate");
  });
});

describe("a client certificate", () => {
  const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
  /** It must be longer than the first requests take on a busy machine. */
  const LIFETIME_MS = 10_000;
  const closing: Array<() => unknown> = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function serve() {
    const certificates = await createCertificates();
    const options = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "test" };
    const parts = { journal: createMemoryJournal(), certificates, log: silentLog };
    const controlPlane = await serveControlPlane(options, parts);
    closing.push(() => controlPlane.close());
    await controlPlane.ready;
    const connect = (credentials: Credentials) => {
      const client = createApiClient(credentials);
      closing.push(() => client.close());
      return client;
    };
    const { url } = controlPlane;
    const issue = async (lifetimeMs: number) => {
      const user = { url, name: "jane", groups: ["system:masters"], lifetimeMs };
      return credentialsOf(await issueKubeconfig(certificates, user));
    };
    return { connect, issue, credentials: credentialsOf(controlPlane.kubeconfig) };
  }

  it("that expires on an open connection is refused from then on, and its watches go on as upstream's do", async () => {
    const { connect, issue, credentials } = await serve();
    const shortLived = await issue(LIFETIME_MS);
    const [jane, admin] = [connect(shortLived), connect(credentials)];
    const watch = await jane.watch(CONFIG_MAPS);
    const ask = async () => {
      const answer = await jane.open("GET", CONFIG_MAPS);
      const { localPort } = answer.socket;
      for await (const _ of answer);
      return { statusCode: answer.statusCode, localPort };
    };
    const { statusCode, localPort } = await ask();
    expect(statusCode).toBe(200);
    await vi.waitFor(async () => expect(await ask()).toEqual({ statusCode: 401, localPort }), {
      ...{ timeout: 60_000, interval: 200 },
    });
    const { validTo } = new X509Certificate(shortLived.certificatePem ?? "");
    expect(Date.parse(validTo)).toBeLessThanOrEqual(Date.now());
    await admin.object("POST", CONFIG_MAPS, { metadata: { name: "later" } });
    const events = await watch.until(({ object }) => object.metadata.name === "later");
    expect(events.at(-1)?.type).toBe("ADDED");
  });

  it("that is not believed is refused where nothing else speaks for the client, and is no anonymous user's", async () => {
    const { connect, credentials } = await serve();
    const stranger = await (await serve()).issue(60_000);
    const mixed = { ...stranger, url: credentials.url, caPem: credentials.caPem };
    const unauthorized = { status: 401, body: { reason: "Unauthorized", message: "Unauthorized" } };
    for (const path of ["/version", CONFIG_MAPS]) {
      expect(await connect(mixed).json("GET", path)).toMatchObject(unauthorized);
    }
    const { url, caPem } = credentials;
    expect(await connect({ url, caPem }).json("GET", "/version")).toMatchObject({ status: 200 });
  });
});

it("a running control plane takes its renewed certificates into use, and says how long they last", async () => {
  const day = 86_400_000;
  const clock = createFakeClock({ now: Date.now() - 300 * day });
  const renewed = await createRenewedCertificates({ clock, log: silentLog });
  const options = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "test" };
  const controlPlane = await serveControlPlane(options, { ...renewed, journal: createMemoryJournal(), log: silentLog });
  const before = credentialsOf(controlPlane.kubeconfig);
  const old = createApiClient(before);
  try {
    await controlPlane.ready;
    const shown = async () => {
      const { port } = new URL(controlPlane.url);
      const socket = connect({ host: "127.0.0.1", port: Number(port), rejectUnauthorized: false });
      await once(socket, "secureConnect");
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
      socket.destroy();
      return fingerprint;
    };
    const secondsLeft = async () => {
      const { body } = await old.json("GET", "/metrics");
      return Number(/nodelet_certificate_expiration_seconds\{certificate="apiserver"\} (\S+)/.exec(String(body))?.[1]);
    };
    const first = await shown();
    expect((await secondsLeft()) / 86_400).toBeLessThan(66);
    const renewal = new Promise((resolve) => renewed.renewals.subscribe(() => resolve(undefined)));
    clock.jumpWallClock(300 * day - 3_600_000);
    await clock.advance(3_600_000);
    await renewal;
    await vi.waitFor(async () => expect(await shown()).not.toBe(first), { timeout: 30_000 });
    expect((await secondsLeft()) / 86_400).toBeGreaterThan(360);
    const after = credentialsOf(controlPlane.kubeconfig);
    expect(after.certificatePem).not.toBe(before.certificatePem);
    const fresh = createApiClient(after);
    for (const client of [old, fresh]) expect(await client.json("GET", "/api/v1/nodes")).toMatchObject({ status: 200 });
    fresh.close();
  } finally {
    old.close();
    await controlPlane.close();
  }
});
