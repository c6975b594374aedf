import { beforeAll, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { type ForgedAttribute, forgedAttribute, forgeRequest } from "../../../src/pki/__fixtures__/forged-request.ts";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf } from "./harness.ts";

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
