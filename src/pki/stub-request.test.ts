import { createPrivateKey, createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readCertificateRequest } from "./certificate-request.ts";
import { createStubRequest, isStubKeyType, readStubRequest, STUB_KEY_TYPES } from "./stub-request.ts";

const DETAILS = {
  RSA3072: ["rsa", { modulusLength: 3072 }],
  RSA4096: ["rsa", { modulusLength: 4096 }],
  ECDSAP256: ["ec", { namedCurve: "prime256v1" }],
  ECDSAP384: ["ec", { namedCurve: "secp384r1" }],
  ECDSAP521: ["ec", { namedCurve: "secp521r1" }],
  ED25519: ["ed25519", {}],
} as const;

const pemOf = (request: Buffer) =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;

describe("a stub request", () => {
  it.each(STUB_KEY_TYPES)("for a key of the type %s is read back, and by another library", async (type) => {
    const { request, keyPem } = await createStubRequest(type);
    const { publicKey, isSignatureValid } = readStubRequest(request);
    const [kind, details] = DETAILS[type];
    expect(isSignatureValid).toBe(true);
    expect(publicKey.asymmetricKeyType).toBe(kind);
    expect(publicKey.asymmetricKeyDetails).toMatchObject(details);
    expect(createPublicKey(createPrivateKey(keyPem)).equals(publicKey)).toBe(true);
    expect(keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(await readCertificateRequest(pemOf(request))).toMatchObject({
      isSignatureValid: true,
      commonName: "",
      dnsNames: [],
      publicKeyPem: publicKey.export({ format: "pem", type: "spki" }).toString(),
    });
  });

  it("has an empty subject and empty attributes, as those of Go", async () => {
    const { request } = await createStubRequest("ED25519");
    expect(request.toString("hex")).toMatch(
      /^307f30330201003000302a300506032b6570032100[0-9a-f]{64}a000300506032b6570034100[0-9a-f]{128}$/,
    );
  });

  it("whose bytes were changed is not signed by its key", async () => {
    const { request } = await createStubRequest("ECDSAP256");
    const other = await createStubRequest("ECDSAP256");
    const forged = Buffer.from(request);
    const key = readStubRequest(other.request).publicKey.export({ format: "der", type: "spki" });
    key.copy(forged, forged.indexOf(Buffer.from("3059", "hex")));
    expect(readStubRequest(forged).isSignatureValid).toBe(false);
  });

  it.each([
    ["nothing", ""],
    ["text", Buffer.from("text").toString("hex")],
    ["an empty sequence", "3000"],
    ["a request without a key", "300a3005020100300030003003"],
    ["what is cut off", "307f3033"],
  ])("is not %s", (_what, hex) => {
    expect(() => readStubRequest(Buffer.from(hex, "hex"))).toThrow(/^not a certificate request: /);
  });

  it("is not something with more behind it", async () => {
    const { request } = await createStubRequest("ED25519");
    expect(() => readStubRequest(Buffer.concat([request, Buffer.of(5, 0)]))).toThrow("something follows the request");
  });
});

it.each([
  ["ED25519", true],
  ["RSA2048", false],
  ["", false],
])("%j is a key type: %s", (text, isOne) => {
  expect(isStubKeyType(text)).toBe(isOne);
});
