import { describe, expect, test } from "vitest";
import type { CertificateSigningRequest } from "../../api/gen/types.ts";
import { typed, untyped } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import type { Authorize } from "../ports/request.ts";
import { createCertificateApprover } from "./certificate-approver.ts";
import { REQUESTS, type RequestedCertificate } from "./certificate-requests.ts";
import { createCertificateSigner, type SigningOrder } from "./certificate-signer.ts";
import { createCertificateRequestCleaner, createPodCertificateRequestCleaner } from "./expired-objects.ts";

const CLIENT_USAGES = ["digital signature", "client auth"];
const SERVER_USAGES = ["digital signature", "server auth"];
const NODE: RequestedCertificate = {
  commonName: "system:node:n",
  organizations: ["system:nodes"],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
};
const KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet";
const KUBELET_SERVING = "kubernetes.io/kubelet-serving";
const APPROVED = { conditions: [{ type: "Approved", status: "True" }] };

const read = async (pem: string): Promise<RequestedCertificate> => JSON.parse(pem);

function csr(
  requested: Partial<RequestedCertificate> | string,
  spec: Partial<CertificateSigningRequest["spec"]> = {},
  status: CertificateSigningRequest["status"] = {},
) {
  const pem = typeof requested === "string" ? requested : JSON.stringify({ ...NODE, ...requested });
  return untyped({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "csr" },
    spec: {
      request: Buffer.from(pem).toString("base64"),
      signerName: KUBELET_CLIENT,
      usages: CLIENT_USAGES,
      username: "system:bootstrap:abcdef",
      groups: ["system:bootstrappers"],
      ...spec,
    },
    status,
  });
}

function stored(bench: ReturnType<typeof createControllerBench>): CertificateSigningRequest | undefined {
  const found = bench.reader.get({ resource: REQUESTS, namespace: "", name: "csr" });
  return found && typed("CertificateSigningRequest", found);
}

describe("the approver", () => {
  /** Allows bootstrappers to ask for new nodes and nodes to ask for themselves. */
  const authorize: Authorize = (attributes) => {
    if (!("resource" in attributes)) return { allowed: false, reason: "" };
    const { user, verb, subresource } = attributes;
    const allowed =
      verb === "create" &&
      ((subresource === "nodeclient" && user.groups.includes("system:bootstrappers")) ||
        (subresource === "selfnodeclient" && user.groups.includes("system:nodes")));
    return { allowed, reason: "" };
  };
  const approve = async (request: ReturnType<typeof csr>, asked = authorize) => {
    const bench = createControllerBench();
    bench.start(createCertificateApprover({ ...bench.deps, authorize: asked, readCertificateRequest: read }));
    await bench.create(REQUESTS, request);
    await bench.clock.settle();
    return { ...bench, message: stored(bench)?.status?.conditions?.find(({ type }) => type === "Approved")?.message };
  };

  test("approves a new node's client certificate for who may create one", async () => {
    const { message, writes } = await approve(csr({}));
    expect(message).toBe("Auto approving kubelet client certificate after SubjectAccessReview.");
    expect(writes).toEqual([`create ${REQUESTS}/csr`, `update ${REQUESTS}/csr approval`]);
  });

  test("approves a node's renewal of its own certificate, and of no other's", async () => {
    const asNode = { username: "system:node:n", groups: ["system:nodes"] };
    expect((await approve(csr({}, asNode))).message).toBe(
      "Auto approving self kubelet client certificate after SubjectAccessReview.",
    );
    expect((await approve(csr({ commonName: "system:node:m" }, asNode))).message).toBeUndefined();
  });

  test.each([
    ["for another signer", csr({}, { signerName: KUBELET_SERVING, usages: SERVER_USAGES })],
    ["with other organizations", csr({ organizations: ["system:nodes", "system:masters"] })],
    ["with alternative names", csr({ dnsNames: ["kubernetes"] })],
    ["with more usages", csr({}, { usages: [...CLIENT_USAGES, "server auth"] })],
    ["that is no node's", csr({ commonName: "admin" })],
    ["that was denied", csr({}, {}, { conditions: [{ type: "Denied", status: "True" }] })],
    ["that nobody can read", csr("not a request")],
  ])("leaves one %s to a person", async (_what, request) => {
    const { message, clock } = await approve(request);
    expect(message).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  test("approves later when the author is given the role later", async () => {
    let allowed = false;
    const { clock, reader } = await approve(csr({}), () => ({ allowed, reason: "" }));
    allowed = true;
    await clock.advance(30_000);
    const found = reader.get({ resource: REQUESTS, namespace: "", name: "csr" });
    expect(found?.["status"]).toMatchObject({ conditions: [{ type: "Approved", reason: "AutoApproved" }] });
  });
});

describe("the signer", () => {
  const sign = async (request: ReturnType<typeof csr>, fails = 0) => {
    const bench = createControllerBench();
    const orders: SigningOrder[] = [];
    let left = fails;
    const order = async (wanted: SigningOrder) => {
      if (left-- > 0) throw new Error("authority is busy");
      orders.push(wanted);
      return "CERTIFICATE";
    };
    bench.start(createCertificateSigner({ ...bench.deps, readCertificateRequest: read, sign: order }));
    await bench.create(REQUESTS, request);
    await bench.clock.advance(1_000);
    return { status: stored(bench)?.status, orders };
  };

  test("signs what was approved, and puts the certificate into the status", async () => {
    const { status, orders } = await sign(csr({}, { expirationSeconds: 86_400 }, APPROVED));
    expect(Buffer.from(status?.certificate ?? "", "base64").toString()).toBe("CERTIFICATE");
    expect(orders).toEqual([
      {
        signerName: KUBELET_CLIENT,
        requestPem: JSON.stringify(NODE),
        usages: CLIENT_USAGES,
        lifetimeMs: 86_400_000,
      },
    ]);
  });

  test.each([
    ["a year without a wish", undefined, 365 * 86_400_000],
    ["a year at most", 10 * 365 * 86_400, 365 * 86_400_000],
    ["ten minutes at least", 1, 600_000],
  ])("gives a certificate %s", async (_what, expirationSeconds, lifetimeMs) => {
    const spec = expirationSeconds === undefined ? {} : { expirationSeconds };
    const { orders } = await sign(csr({}, spec, APPROVED));
    expect(orders[0]?.lifetimeMs).toBe(lifetimeMs);
  });

  test.each([
    ["was not approved", csr({})],
    ["was denied after all", csr({}, {}, { conditions: [...APPROVED.conditions, { type: "Denied", status: "True" }] })],
    ["has its certificate", csr({}, {}, { ...APPROVED, certificate: "x" })],
    ["is for somebody else's signer", csr({}, { signerName: "example.com/s" }, APPROVED)],
  ])("leaves alone what %s", async (_what, request) => {
    expect((await sign(request)).orders).toEqual([]);
  });

  const serving = { signerName: KUBELET_SERVING, usages: SERVER_USAGES };
  const client = { signerName: "kubernetes.io/kube-apiserver-client" };
  test.each([
    [csr({ organizations: ["dev"] }, {}, APPROVED), "subject organization is not system:nodes"],
    [csr({ ipAddresses: ["10.0.0.1"] }, {}, APPROVED), "IP subjectAltNames are not allowed"],
    [csr({ dnsNames: ["n"] }, {}, APPROVED), "DNS subjectAltNames are not allowed"],
    [csr({ uris: ["spiffe://x"] }, {}, APPROVED), "URI subjectAltNames are not allowed"],
    [csr({ emailAddresses: ["a@b"] }, {}, APPROVED), "Email subjectAltNames are not allowed"],
    [csr({ commonName: "x" }, {}, APPROVED), "subject common name does not begin with system:node:"],
    [
      csr({}, { usages: ["client auth"] }, APPROVED),
      "usages did not match [client auth digital signature key encipherment]",
    ],
    [csr({}, serving, APPROVED), "DNS or IP subjectAltName is required"],
    [
      csr({ dnsNames: ["n"] }, { ...serving, usages: CLIENT_USAGES }, APPROVED),
      "usages did not match [digital signature key encipherment server auth]",
    ],
    [csr({}, { ...client, usages: ["server auth"] }, APPROVED), "invalid usage for client certificate: server auth"],
    [
      csr({}, { ...client, usages: ["digital signature"] }, APPROVED),
      "missing required usage for client certificate: client auth",
    ],
  ])("says why it does not sign (%#)", async (request, message) => {
    const { status, orders } = await sign(request);
    expect(orders).toEqual([]);
    expect(status?.conditions?.at(-1)).toMatchObject({
      type: "Failed",
      status: "True",
      reason: "SignerValidationFailure",
      message,
    });
  });

  test.each([
    csr({ dnsNames: ["n"], ipAddresses: ["10.0.0.1"] }, serving, APPROVED),
    csr({ organizations: ["dev"], commonName: "jane" }, client, APPROVED),
    csr({ commonName: "anything" }, { signerName: "kubernetes.io/legacy-unknown", usages: ["any"] }, APPROVED),
    csr({}, { usages: [...CLIENT_USAGES, "key encipherment"] }, APPROVED),
  ])("knows the four signers of Kubernetes (%#)", async (request) => {
    expect((await sign(request)).orders).toHaveLength(1);
  });

  test("tries again when the authority fails", async () => {
    const { status, orders } = await sign(csr({}, {}, APPROVED), 3);
    expect(orders).toHaveLength(1);
    expect(status?.certificate).toBeDefined();
  });
});

describe("the cleaner", () => {
  const HOUR = 3_600_000;
  const at = (time: string) => [{ type: "Approved", status: "True", lastUpdateTime: time }];
  const START = "2026-01-01T00:00:00Z";
  test.each<[string, CertificateSigningRequest["status"], number]>([
    ["nobody answered", {}, 24 * HOUR],
    ["was issued", { conditions: at(START), certificate: "x" }, HOUR],
    ["was denied", { conditions: [{ type: "Denied", status: "True", lastUpdateTime: START }] }, HOUR],
  ])("deletes a request that %s when its time is over, and not before", async (_what, status, lifetime) => {
    const bench = createControllerBench();
    bench.start(createCertificateRequestCleaner(bench.deps));
    await bench.create(REQUESTS, csr({}, {}, status));
    await bench.clock.advance(lifetime - 1_000);
    expect(bench.names(REQUESTS)).toEqual(["csr"]);
    await bench.clock.advance(11_000);
    expect(bench.names(REQUESTS)).toEqual([]);
    expect(bench.clock.pendingTimers).toBe(0);
  });

  test("deletes a request for a pod's certificate after a quarter of an hour, whatever became of it", async () => {
    const bench = createControllerBench();
    const resource = "podcertificaterequests.certificates.k8s.io";
    bench.start(createPodCertificateRequestCleaner(bench.deps));
    const header = { apiVersion: "certificates.k8s.io/v1beta1", kind: "PodCertificateRequest" };
    await bench.create(resource, { ...header, metadata: { name: "req-1", namespace: "a" }, spec: {} });
    await bench.clock.advance(HOUR / 4 - 1_000);
    expect(bench.names(resource)).toEqual(["req-1"]);
    await bench.clock.advance(11_000);
    expect(bench.names(resource)).toEqual([]);
  });

  test("keeps what was approved and waits for its certificate", async () => {
    const bench = createControllerBench();
    bench.start(createCertificateRequestCleaner(bench.deps));
    await bench.create(REQUESTS, csr({}, {}, { conditions: at(START) }));
    await bench.clock.advance(48 * HOUR);
    expect(bench.names(REQUESTS)).toEqual(["csr"]);
  });
});
