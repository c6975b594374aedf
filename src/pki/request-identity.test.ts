import { X509Certificate } from "node:crypto";
import { array, assert, asyncProperty, constantFrom, integer, oneof, record, string, uint8Array } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  ATTRIBUTES,
  type ForgedAttribute,
  forgedAttribute,
  forgeRequest,
  readAsGo,
  TEXT_TAGS,
} from "./__fixtures__/forged-request.ts";
import { loadSubjectReader, readCertificateRequest } from "./certificate-request.ts";
import { createCertificateAuthority, issueCertificate, signCertificateRequest } from "./issue-certificate.ts";
import { type KeyedCertificate, readCertificate } from "./read-certificate.ts";

const DAY_MS = 86_400_000;
const now = Date.now();
const terms = { notBefore: now - DAY_MS, notAfter: now + DAY_MS };
const usages = ["digital signature", "client auth"];

let authority: KeyedCertificate;
let readSubject: Awaited<ReturnType<typeof loadSubjectReader>>;
beforeAll(async () => {
  authority = await createCertificateAuthority({ commonName: "test-ca", days: 2, now: now - DAY_MS });
  readSubject = await loadSubjectReader();
});

const signRequest = (requestPem: string) => signCertificateRequest({ ...terms, authority, usages, requestPem });

/** Checks the request as admission, the approver and the signer do; undefined when one of them refuses it. */
async function checkAndSign(requestPem: string) {
  const outcomes = await Promise.allSettled([
    (async () => readSubject(requestPem))(),
    readCertificateRequest(requestPem),
    signRequest(requestPem),
  ]);
  const [admitted, approved, certificatePem] = outcomes.map((outcome) => {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "InvalidRequest" });
    return outcome.status === "fulfilled" ? outcome.value : undefined;
  });
  if (typeof certificatePem !== "string") return undefined;
  return { admitted, approved, certificatePem };
}

/** Expects that every reader takes the issued certificate for the identity that was checked. */
async function expectOneIdentity(subject: ReadonlyArray<readonly ForgedAttribute[]>): Promise<"refused" | "issued"> {
  const outcome = await checkAndSign(forgeRequest(subject));
  if (outcome === undefined) return "refused";
  const { commonName, organizations } = readCertificate(outcome.certificatePem);
  const identity = { commonName, organizations };
  expect(outcome.admitted).toEqual(identity);
  expect(outcome.approved).toMatchObject(identity);
  const { raw, subject: text } = new X509Certificate(outcome.certificatePem);
  expect(readAsGo(raw)).toEqual(identity);
  // Nothing else is in the subject, whatever the request had there.
  expect((text ?? "").split("\n").every((line) => line === "" || /^(CN|O)=/.test(line))).toBe(true);
  return "issued";
}

const TEXTS = [
  "system:masters",
  "system:nodes",
  "system:node:a",
  "#0c0e73797374656d3a6d617374657273",
  'a"system:masters"',
  "a\\2c system:masters",
  "a,O=system:masters",
  "a+O=system:masters",
  "a\nO=system:masters",
  "\0system:masters",
  "system:masters\0",
  "\ufeffsystem:masters",
  "1234567890",
  "",
];
const bytes = oneof(
  constantFrom(...TEXTS).map((text) => Buffer.from(text)),
  constantFrom(...TEXTS).map((text) => Buffer.from(text, "utf16le").swap16()),
  string().map((text) => Buffer.from(text)),
  uint8Array({ maxLength: 200 }),
);
const attribute = record({
  type: oneof(constantFrom(...Object.values(ATTRIBUTES)), uint8Array({ minLength: 1, maxLength: 6 })),
  tag: oneof(
    { weight: 3, arbitrary: constantFrom(...Object.values(TEXT_TAGS)) },
    { weight: 3, arbitrary: constantFrom(TEXT_TAGS.utf8String, TEXT_TAGS.printableString) },
    { weight: 1, arbitrary: integer({ min: 0, max: 255 }) },
  ),
  value: bytes,
});

describe("a certificate request's identity", () => {
  it("is read alike by admission, approver, signer, Node's TLS and Go, or refused", async () => {
    const seen = { refused: 0, issued: 0 };
    await assert(
      asyncProperty(array(array(attribute, { maxLength: 3 }), { maxLength: 4 }), async (subject) => {
        seen[await expectOneIdentity(subject)] += 1;
      }),
      { numRuns: 150 },
    );
    expect(Math.min(seen.refused, seen.issued)).toBeGreaterThan(3);
  });

  const ALLOWED: ReadonlySet<string> = new Set(["utf8String", "printableString", "ia5String", "t61String"]);
  it.each(Object.entries(TEXT_TAGS))("hides no group behind a %s", async (name, tag) => {
    for (const value of [Buffer.from("system:masters"), Buffer.from("system:masters", "utf16le").swap16()]) {
      const organization = { type: ATTRIBUTES.organization, tag, value };
      const isRead = ALLOWED.has(name) && value.length === "system:masters".length;
      const outcome = await expectOneIdentity([[forgedAttribute("commonName", "jane")], [organization]]);
      expect(outcome).toBe(isRead ? "issued" : "refused");
    }
  });

  it.each<[string, ForgedAttribute[][], string]>([
    [
      "two common names",
      [[forgedAttribute("commonName", "system:node:a")], [forgedAttribute("commonName", "system:node:b")]],
      "the subject has more than one common name",
    ],
    [
      "two common names in one set",
      [[forgedAttribute("commonName", "system:node:a"), forgedAttribute("commonName", "system:node:a")]],
      "the subject has more than one common name",
    ],
    [
      "an organization as a NumericString",
      [[forgedAttribute("organization", "system:masters", "numericString")]],
      "the organization of the subject is of a type that is not allowed (UTF8String, PrintableString, IA5String and T61String are)",
    ],
    [
      "a common name as a BMPString",
      [[forgedAttribute("commonName", Buffer.from("a", "utf16le").swap16(), "bmpString")]],
      "the common name of the subject is of a type that is not allowed (UTF8String, PrintableString, IA5String and T61String are)",
    ],
    [
      "a zero byte",
      [[forgedAttribute("commonName", "system:node:a\0b")]],
      "the common name of the subject has a control character",
    ],
    [
      "bytes that are no UTF-8",
      [[forgedAttribute("commonName", Buffer.of(0xff))]],
      "the common name of the subject has bytes that its type does not allow",
    ],
    [
      "an underscore in a PrintableString",
      [[forgedAttribute("organization", "a_b", "printableString")]],
      "the organization of the subject has bytes that its type does not allow",
    ],
  ])("is refused with %s", async (_what, subject, message) => {
    const pem = forgeRequest(subject);
    expect(() => readSubject(pem)).toThrow(expect.objectContaining({ code: "InvalidRequest", message }));
    await expect(readCertificateRequest(pem)).rejects.toMatchObject({ code: "InvalidRequest", message });
    await expect(signRequest(pem)).rejects.toMatchObject({ code: "InvalidRequest", message });
  });

  it.each<[string, ForgedAttribute]>([
    ["hexadecimal bytes", forgedAttribute("organization", "#0c0e73797374656d3a6d617374657273")],
    ["a quotation", forgedAttribute("organization", 'a"system:masters"')],
    ["an escape", forgedAttribute("organization", "a\\,b\\0ac")],
    ["an accent in Latin-1", forgedAttribute("organization", Buffer.of(0xe9), "t61String")],
    ["a mark of the byte order", forgedAttribute("organization", "\ufeffa")],
  ])("is what it was where a name looks like %s", async (_what, organization) => {
    expect(await expectOneIdentity([[organization], [forgedAttribute("commonName", "jane")]])).toBe("issued");
  });

  it("is all that a certificate says of its subject", async () => {
    const subject = [
      [forgedAttribute("commonName", "jane"), forgedAttribute("organization", "b")],
      [forgedAttribute("organizationalUnit", "unit"), forgedAttribute("userUid", "42")],
      [forgedAttribute("organization", "a")],
    ];
    const pem = await signRequest(forgeRequest(subject));
    expect(new X509Certificate(pem).subject).toBe("O=b\nO=a\nCN=jane");
  });
});

it.each(["#0c0e73797374656d3a6d617374657273", 'a"system:masters"', "a\\,b"])(
  "a certificate of ours says %s where that is the name",
  async (name) => {
    const subject = { commonName: name, organizations: [name] };
    const { certificatePem } = await issueCertificate({ ...subject, ...terms, authority, usages: ["client"] });
    expect(readCertificate(certificatePem)).toMatchObject(subject);
  },
);
