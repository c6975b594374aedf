import { constants, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { Condition, PodCertificateRequestSpec, PodCertificateRequestStatus } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { formatTime } from "../../../base/clock.ts";
import { createCertificateAuthority, signCertificateRequest } from "../../../pki/issue-certificate.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import { createStubRequest, STUB_KEY_TYPES } from "../../../pki/stub-request.ts";
import { podCertificateRequestKind as row } from "./pod-certificate-request.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const base64 = (bytes: Buffer) => bytes.toString("base64");
const STATUS = row.subresources[0] ?? expect.fail("no status");
const HOUR = 3_600_000;
const START = Date.parse("2026-01-01T00:00:00Z");

let authority: KeyedCertificate;
let stub: string;
beforeAll(async () => {
  authority = await createCertificateAuthority({ commonName: "signer", days: 365, now: START });
  stub = base64((await createStubRequest("ECDSAP256")).request);
});

const GOOD = {
  signerName: "example.com/signer",
  podName: "p",
  podUID: "pod-uid",
  serviceAccountName: "default",
  serviceAccountUID: "account-uid",
  nodeName: "n",
  nodeUID: "node-uid",
  maxExpirationSeconds: 86_400,
};

function request(spec: Partial<PodCertificateRequestSpec> = {}, status: PodCertificateRequestStatus = {}) {
  return untyped({
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "PodCertificateRequest",
    metadata: { name: "req-1", namespace: "a" },
    spec: { ...GOOD, stubPKCS10Request: stub, ...spec },
    status,
  });
}

const problemsOf = (spec: Partial<PodCertificateRequestSpec>) => show(row.strategy.validateCreate?.(request(spec)));

describe("a request for a pod's certificate", () => {
  it("is for a day where nobody says for how long, and has no outcome", () => {
    const sent = request({}, { certificateChain: "forged" });
    const { maxExpirationSeconds: _, ...rest } = GOOD;
    expect(row.strategy.prepareCreate?.(sent)["status"]).toEqual({});
    expect(row.strategy.default?.({ ...sent, spec: rest })["spec"]).toMatchObject({ maxExpirationSeconds: 86_400 });
  });

  it("is found by its signer, its pod and its node", () => {
    const values = Object.entries(row.strategy.fields ?? {}).map(([field, read]) => [field, read(request())]);
    expect(Object.fromEntries(values)).toEqual({
      "spec.signerName": "example.com/signer",
      "spec.podName": "p",
      "spec.nodeName": "n",
    });
  });

  it.each<[string, Partial<PodCertificateRequestSpec>, unknown[]]>([
    ["is fine", {}, []],
    ["may say something to the signer", { unverifiedUserAnnotations: { "Example.com/a": "b" } }, []],
    [
      "says it by keys with a domain",
      { unverifiedUserAnnotations: { plain: "b" } },
      ['spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as "acme.io/foo")'],
    ],
    [
      "does not say too much",
      { unverifiedUserAnnotations: { "example.com/a": "b".repeat(256 * 1024) } },
      ["spec.unverifiedUserAnnotations: Too long: may not be more than 262144 bytes"],
    ],
    ["is for a signer", { signerName: "" }, ["spec.signerName: Required value"]],
    ["is for a pod", { podName: "P" }, [expect.stringMatching(/^spec\.podName: Invalid value: "P": /)]],
    ["is for one pod", { podUID: "" }, ['spec.podUID: Invalid value: "": must not be empty']],
    [
      "has UIDs of a length",
      { nodeUID: "u".repeat(129), serviceAccountUID: "u".repeat(129) },
      [
        "spec.serviceAccountUID: Too long: may not be more than 128 bytes",
        "spec.nodeUID: Too long: may not be more than 128 bytes",
      ],
    ],
    ["is for an hour at least", { maxExpirationSeconds: 3600 }, []],
    [
      "is for no less",
      { maxExpirationSeconds: 3599 },
      ["spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"],
    ],
    [
      "is for 91 days at most",
      { maxExpirationSeconds: 7_862_401 },
      ["spec.maxExpirationSeconds: Invalid value: 7862401: must be in the range [3600, 7862400]"],
    ],
    [
      "is for a day at most where Kubernetes signs",
      { signerName: "kubernetes.io/kube-apiserver-client-pod", maxExpirationSeconds: 86_401 },
      ["spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"],
    ],
    [
      "has a key",
      { stubPKCS10Request: "" },
      [
        'spec: Invalid value: "<value omitted>": exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set',
      ],
    ],
    [
      "has a key in a request",
      { stubPKCS10Request: "AAAA" },
      ['spec.stubPKCS10Request: Invalid value: "<value omitted>": must be a valid PKCS#10 CSR'],
    ],
    [
      "has a request of a length",
      { stubPKCS10Request: base64(Buffer.alloc(10_241)) },
      ["spec.stubPKCS10Request: Too long: may not be more than 10240 bytes"],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(problemsOf(spec)).toEqual(errors);
  });

  it("stays the same request", () => {
    const errors = row.strategy.validateUpdate?.(request({ podName: "other" }), request());
    expect(show(errors)).toEqual([expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/)]);
    expect(row.strategy.validateUpdate?.(request(), request())).toEqual([]);
  });
});

describe("the key of a request", () => {
  it.each(STUB_KEY_TYPES)("may be of the type %s", async (type) => {
    expect(problemsOf({ stubPKCS10Request: base64((await createStubRequest(type)).request) })).toEqual([]);
  });

  it("is proven by the request's signature", async () => {
    const forged = Buffer.from(stub, "base64");
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1);
    expect(problemsOf({ stubPKCS10Request: base64(forged) })).toEqual([
      'spec.stubPKCS10Request: Invalid value: "<value omitted>": the signature of the PKCS#10 CSR could not be verified',
    ]);
  });

  /** What a kubelet before 1.36 sends. */
  const proof = (keyPem: string, podUid = GOOD.podUID) => {
    const key = createPrivateKey(keyPem);
    const isPss = key.asymmetricKeyType === "rsa";
    const padding = isPss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
    const hash = key.asymmetricKeyType === "ed25519" ? null : "sha256";
    return {
      stubPKCS10Request: "",
      pkixPublicKey: base64(createPublicKey(key).export({ format: "der", type: "spki" })),
      proofOfPossession: base64(sign(hash, Buffer.from(podUid), { key, ...padding })),
    };
  };

  it.each(["RSA3072", "ECDSAP384", "ED25519"] as const)("of type %s may be proven by the pod's UID", async (type) => {
    const { keyPem } = await createStubRequest(type);
    expect(problemsOf(proof(keyPem))).toEqual([]);
    expect(problemsOf(proof(keyPem, "other"))).toEqual([
      'spec.proofOfPossession: Invalid value: "<value omitted>": could not verify proof-of-possession signature',
    ]);
    expect(problemsOf({ ...proof(keyPem), stubPKCS10Request: stub })).toHaveLength(1);
  });

  it.each([
    ["a short RSA key", generateKeyPairSync("rsa", { modulusLength: 2048 }), '"2048-bit modulus": RSA keys must have'],
    [
      "another curve",
      generateKeyPairSync("ec", { namedCurve: "secp256k1" }),
      '"curve secp256k1": elliptic public keys',
    ],
    ["another kind", generateKeyPairSync("x25519"), "unknown public key type; supported types are Ed25519"],
  ])("is not %s", (_what, { publicKey }, message) => {
    const pkixPublicKey = base64(publicKey.export({ format: "der", type: "spki" }));
    const errors = problemsOf({ stubPKCS10Request: "", pkixPublicKey, proofOfPossession: "AAAA" });
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  it("is a key", () => {
    const errors = problemsOf({ stubPKCS10Request: "", pkixPublicKey: "AAAA", proofOfPossession: "AAAA" });
    expect(errors).toEqual(['spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key']);
  });
});

const condition = (type: string, parts: Partial<Condition> = {}): Condition => ({
  type,
  status: "True",
  reason: "Because",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  ...parts,
});

const statusProblems = (after: PodCertificateRequestStatus, before: PodCertificateRequestStatus = {}) => {
  return show(STATUS.validateUpdate?.(request({}, after), request({}, before)));
};

async function issued(options: { requestPem?: string; hours?: number; refreshAfter?: number } = {}) {
  const { hours = 24, refreshAfter = 12 * HOUR } = options;
  const requestPem =
    options.requestPem ?? `-----BEGIN CERTIFICATE REQUEST-----\n${stub}\n-----END CERTIFICATE REQUEST-----\n`;
  const terms = { authority, notBefore: START, notAfter: START + hours * HOUR };
  const leaf = await signCertificateRequest({ ...terms, requestPem, usages: ["digital signature", "client auth"] });
  return {
    conditions: [condition("Issued")],
    certificateChain: `${leaf}${authority.certificatePem}`,
    notBefore: formatTime(START),
    notAfter: formatTime(START + hours * HOUR),
    beginRefreshAt: formatTime(START + refreshAfter),
  } satisfies PodCertificateRequestStatus;
}

describe("the status of a request", () => {
  it("says that it is issued, denied or failed", async () => {
    expect(statusProblems(await issued())).toEqual([]);
    expect(statusProblems({ conditions: [condition("Denied")] })).toEqual([]);
    expect(statusProblems({ conditions: [condition("Failed")] })).toEqual([]);
    expect(statusProblems({})).toEqual([]);
  });

  it.each<[string, PodCertificateRequestStatus, PodCertificateRequestStatus, unknown[]]>([
    [
      "has one outcome",
      { conditions: [condition("Denied"), condition("Failed")] },
      {},
      [expect.stringContaining('status.conditions[1].type: Invalid value: "Failed": There may be at most one')],
    ],
    [
      "has no other conditions",
      { conditions: [condition("Seen")] },
      {},
      ['status.conditions[0].type: Unsupported value: "Seen": supported values: "Issued", "Denied", "Failed"'],
    ],
    [
      "has an outcome that holds, with a reason",
      { conditions: [condition("Denied", { status: "False", reason: "" })] },
      {},
      [
        'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
        "status.conditions[0].reason: Required value",
      ],
    ],
    [
      "does not change after its outcome",
      {},
      { conditions: [condition("Denied")] },
      ['status: Invalid value: "<value omitted>": immutable after PodCertificateRequest is issued, denied, or failed'],
    ],
    [
      "has no certificate where it is denied",
      { conditions: [condition("Denied")], certificateChain: "x" },
      {},
      [expect.stringContaining("non-condition status fields must be empty when denying or failing")],
    ],
    [
      "has no certificate without an outcome",
      { certificateChain: "x" },
      {},
      [expect.stringContaining('status is immutable unless transitioning to "Issued", "Denied", or "Failed"')],
    ],
    [
      "has a certificate where it is issued",
      { conditions: [condition("Issued")] },
      {},
      ['status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate'],
    ],
  ])("%s", (_name, after, before, errors) => {
    expect(statusProblems(after, before)).toEqual(errors);
  });

  const CHAIN = "status.certificateChain: Invalid value: ";
  it.each<[string, (good: Awaited<ReturnType<typeof issued>>) => PodCertificateRequestStatus, string]>([
    [
      "nothing but certificates",
      (good) => ({ ...good, certificateChain: `${good.certificateChain}-----BEGIN A-----\nAAAA\n-----END A-----\n` }),
      "issued certificate chain must consist entirely of CERTIFICATE PEM blocks",
    ],
    [
      "a leaf that can be read",
      (good) => ({ ...good, certificateChain: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" }),
      "leaf certificate does not parse as valid X.509",
    ],
    [
      "issuers that can be read",
      (good) => ({
        ...good,
        certificateChain: `${good.certificateChain}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      }),
      "intermediate certificate does not parse as valid X.509",
    ],
    [
      "the key of the request",
      (good) => ({ ...good, certificateChain: authority.certificatePem }),
      "leaf certificate was not issued to the requested public key",
    ],
    ["not too much", (good) => ({ ...good, certificateChain: "x".repeat(102_401) }), "Too long"],
    [
      "its own beginning",
      (good) => ({ ...good, notBefore: formatTime(START + 1000) }),
      "must be set to the NotBefore time encoded in the leaf certificate",
    ],
    [
      "its own end",
      (good) => ({ ...good, notAfter: formatTime(START + HOUR) }),
      "must be set to the NotAfter time encoded in the leaf certificate",
    ],
    [
      "a time for its renewal",
      ({ beginRefreshAt: _, ...good }) => good,
      "must be present and in the range [notbefore+10min, notafter-10min]",
    ],
    [
      "a renewal that is not too soon",
      (good) => ({ ...good, beginRefreshAt: formatTime(START + 599_000) }),
      "must be at least 10 minutes after status.notBefore",
    ],
    [
      "a renewal that is not too late",
      (good) => ({ ...good, beginRefreshAt: formatTime(START + 24 * HOUR - 599_000) }),
      "must be at least 10 minutes before status.notAfter",
    ],
  ])("that is issued has %s", async (_name, change, message) => {
    expect(statusProblems(change(await issued()))).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    [0.5, `${CHAIN}"1800s": leaf certificate lifetime must be >= 1 hour`],
    [25, `${CHAIN}"90000s": leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)`],
  ])("that is issued for %d hours is refused", async (hours, message) => {
    expect(statusProblems(await issued({ hours, refreshAfter: 0.25 * HOUR }))).toEqual([message]);
  });

  it("changes nothing else, and no condition that is there", () => {
    const current = request({}, { conditions: [condition("Denied")] });
    const sent = request({ podName: "x" }, { conditions: [condition("Denied", { reason: "Other" })] });
    const next = { ...sent, metadata: { ...sent.metadata, labels: { a: "b" }, managedFields: [] } };
    expect(STATUS.take?.(next, current)).toEqual({ ...current, metadata: { ...current.metadata, managedFields: [] } });
  });

  it("takes an outcome over", async () => {
    const status = await issued();
    expect(STATUS.take?.(request({}, status), request())).toEqual(request({}, status));
  });
});
