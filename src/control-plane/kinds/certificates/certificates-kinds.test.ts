import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type {
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { CERTIFICATES_KINDS } from "./certificates-kinds.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const base64 = (text: string) => Buffer.from(text).toString("base64");

const REQUEST_PEM = `-----BEGIN CERTIFICATE REQUEST-----
MIGLMD8CAQAwDDEKMAgGA1UEAwwBYTAqMAUGAytlcAMhAOYpQctomhkVESWQFwlv
z/tl6TLvXUASp4x83+NVv2rnoAAwBQYDK2VwA0EA58ufhpnGynPnAAwI30SfQmji
chAbzZKL/SNyIPTdFfzchWTDV23YiCeMG8nQX/hMd+/F6xjyjJek/27O6hk0Cw==
-----END CERTIFICATE REQUEST-----
`;
const CERTIFICATE_PEM = `-----BEGIN CERTIFICATE-----
MIIBLjCB4aADAgECAhRgRAPa7UZM6en0w3dkP/lYysP85DAFBgMrZXAwDDEKMAgG
A1UEAwwBYTAgFw0yNjExMjEwNjIyMDJaGA8yMTI2MTAyODA2MjIwMlowDDEKMAgG
A1UEAwwBYTAqMAUGAytlcAMhAJVE+eOqTmcKzV6GlB1geHOdVXAHI+gIF9hGZKQU
H4oJo1MwUTAdBgNVHQ4EFgQUpe8BRntQpdkqfYRheqzw6q0jli8wHwYDVR0jBBgw
FoAUpe8BRntQpdkqfYRheqzw6q0jli8wDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXAD
QQCvUsjtzH0BXpi1j1ErpmalRf9H6mbROdEJNvKM2bgZ+VNqp7s5tCkUrwb3bSty
CI94dXVf0+p1InLph6ZlyJML
-----END CERTIFICATE-----
`;

const row = CERTIFICATES_KINDS.find(({ kind }) => kind === "CertificateSigningRequest") ?? expect.fail("no row");
const GOOD: CertificateSigningRequestSpec = {
  request: base64(REQUEST_PEM),
  signerName: "example.com/signer",
  usages: ["digital signature", "client auth"],
};

function csr(spec: Partial<CertificateSigningRequestSpec> = {}, status: CertificateSigningRequestStatus = {}) {
  return untyped({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "c" },
    spec: { ...GOOD, ...spec },
    status,
  });
}

const partOf = (name: string) => row.subresources.find((part) => part.name === name) ?? expect.fail(`no ${name}`);
const condition = (type: string, status = "True"): CertificateSigningRequestCondition => ({ type, status });

describe("a certificate request", () => {
  it("may be called as kubelets call theirs, and is found by its signer", () => {
    expect(row.strategy.checkName?.("node-csr-Ab_c")).toEqual([]);
    expect(row.strategy.fields?.["spec.signerName"]?.(csr())).toBe("example.com/signer");
  });

  it("is neither approved nor signed when it is new", () => {
    const sent = csr({}, { certificate: base64(CERTIFICATE_PEM), conditions: [condition("Approved")] });
    expect(row.strategy.prepareCreate?.(sent)["status"]).toEqual({});
  });

  it("stays the same request", () => {
    const next = csr({ usages: ["any"], username: "admin" });
    expect(row.strategy.prepareUpdate?.(next, csr({ username: "jane" }))["spec"]).toEqual({
      ...GOOD,
      username: "jane",
    });
  });

  it.each<[string, Partial<CertificateSigningRequestSpec>, unknown[]]>([
    ["is fine", {}, []],
    ["may say for how long", { expirationSeconds: 600 }, []],
    [
      "is for ten minutes at least",
      { expirationSeconds: 599 },
      ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
    ],
    [
      "is a request",
      { request: base64(CERTIFICATE_PEM) },
      [expect.stringMatching(/^spec\.request: Invalid value: .*: PEM block type must be CERTIFICATE REQUEST$/)],
    ],
    ["is for something", { usages: [] }, ["spec.usages: Required value"]],
    [
      "is for what is known, once",
      { usages: ["any", "any", "all"] },
      [
        expect.stringContaining('spec.usages[2]: Unsupported value: "all": supported values: "any", "cert sign"'),
        'spec.usages[1]: Duplicate value: "any"',
      ],
    ],
    ["is for a signer", { signerName: "" }, ["spec.signerName: Required value"]],
    [
      "is for a signer with a domain",
      { signerName: "signer" },
      [
        "spec.signerName: Invalid value: \"signer\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ],
    ],
    [
      "is for a signer of a domain with a dot",
      { signerName: "example/signer" },
      ['spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots'],
    ],
    [
      "is not for the signer of old",
      { signerName: "kubernetes.io/legacy-unknown" },
      [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(show(row.strategy.validate?.(csr(spec)))).toEqual(errors);
  });
});

const PATH = "status.conditions";
describe("approval", () => {
  const approval = partOf("approval");

  it("takes over the conditions, and nothing of the rest", () => {
    const next = csr({ usages: ["any"] }, { certificate: "Zm9yZ2Vk", conditions: [condition("Approved")] });
    const current = csr({}, { certificate: "c2lnbmVk" });
    expect(approval.take?.(next, current)).toMatchObject({
      spec: GOOD,
      status: { certificate: "c2lnbmVk", conditions: [condition("Approved")] },
    });
  });

  it.each<[string, CertificateSigningRequestCondition[], CertificateSigningRequestCondition[], string[]]>([
    ["may be given", [], [condition("Approved")], []],
    ["may be denied", [], [condition("Denied")], []],
    ["may come with other conditions", [], [condition("Approved"), condition("Seen", "False")], []],
    [
      "is not given and denied",
      [condition("Denied")],
      [condition("Denied"), condition("Approved")],
      [`${PATH}[1].type: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive`],
    ],
    [
      "is not taken back",
      [condition("Approved")],
      [],
      [`${PATH}: Forbidden: updates may not remove a condition of type "Approved"`],
    ],
    [
      "does not turn into a denial",
      [condition("Approved")],
      [condition("Denied")],
      [`${PATH}: Forbidden: updates may not remove a condition of type "Approved"`],
    ],
    [
      "is given or not there",
      [],
      [condition("Approved", "False")],
      [`${PATH}[0].status: Unsupported value: "False": supported values: "True"`],
    ],
    [
      "is given once, by a condition with a type and a status",
      [],
      [condition("Approved"), condition("Approved"), condition("", "")],
      [
        `${PATH}[1].type: Duplicate value: "Approved"`,
        `${PATH}[2].type: Required value`,
        `${PATH}[2].status: Required value`,
      ],
    ],
  ])("%s", (_name, before, after, errors) => {
    const [next, current] = [csr({}, { conditions: after }), csr({}, { conditions: before })];
    expect(show(approval.validateUpdate?.(next, current))).toEqual(errors);
  });
});

describe("a status", () => {
  const APPROVED = [condition("Approved")];
  const signed = (text: string) => ({ conditions: APPROVED, certificate: base64(text) });
  const block = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;

  it.each<[string, CertificateSigningRequestStatus, CertificateSigningRequestStatus, unknown[]]>([
    ["brings the certificate", { conditions: APPROVED }, signed(CERTIFICATE_PEM), []],
    [
      "may bring its chain, and text",
      { conditions: APPROVED },
      signed(`${CERTIFICATE_PEM}CA:\n${CERTIFICATE_PEM}`),
      [],
    ],
    ["may say that signing failed", { conditions: APPROVED }, { conditions: [...APPROVED, condition("Failed")] }, []],
    [
      "brings it once",
      signed(CERTIFICATE_PEM),
      signed(CERTIFICATE_PEM + CERTIFICATE_PEM),
      ["status.certificate: Forbidden: updates may not modify existing certificate content"],
    ],
    [
      "does not take it back",
      signed(CERTIFICATE_PEM),
      { conditions: APPROVED },
      ["status.certificate: Forbidden: updates may not modify existing certificate content"],
    ],
    [
      "brings a certificate",
      { conditions: APPROVED },
      signed("text"),
      ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ],
    [
      "brings nothing else",
      { conditions: APPROVED },
      signed(CERTIFICATE_PEM + block("PRIVATE KEY", "AAAA")),
      [
        'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
      ],
    ],
    [
      "brings no headers",
      { conditions: APPROVED },
      signed(block("CERTIFICATE", "Secret: yes\n\nAAAA")),
      ['status.certificate: Invalid value: "<certificate data>": no PEM block headers are permitted'],
    ],
    [
      "brings one that can be read",
      { conditions: APPROVED },
      signed(block("CERTIFICATE", "AAAA")),
      [expect.stringMatching(/^status\.certificate: Invalid value: "<certificate data>": ./)],
    ],
    [
      "does not approve",
      {},
      { conditions: APPROVED },
      [`${PATH}: Forbidden: updates may not add a condition of type "Approved"`],
    ],
    [
      "leaves the approval as it is",
      { conditions: APPROVED },
      { conditions: [{ ...condition("Approved"), reason: "forged" }] },
      [expect.stringContaining(`${PATH}: Forbidden: updates may not modify a condition of type "Approved"`)],
    ],
    [
      "does not take back a failure",
      { conditions: [condition("Failed")] },
      {},
      [`${PATH}: Forbidden: updates may not remove a condition of type "Failed"`],
    ],
  ])("%s", (_name, before, after, errors) => {
    expect(show(partOf("status").validateUpdate?.(csr({}, after), csr({}, before)))).toEqual(errors);
  });
});
