import { createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type TLSSocket } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { createCertificateRequest, readCertificateRequest } from "./certificate-request.ts";
import { createCertificateAuthority, issueCertificate, signCertificateRequest } from "./issue-certificate.ts";
import { isIssuedBy, isKeyOf, type KeyedCertificate, readCertificate } from "./read-certificate.ts";

const DAY = 86_400_000;
const now = Math.floor(Date.now() / 1000) * 1000;
const terms = { notBefore: now - 60_000, notAfter: now + 30 * DAY };

let authority: KeyedCertificate;
beforeAll(async () => {
  authority = await createCertificateAuthority({ commonName: "test-ca", days: 100, now: now - 60_000 });
});

describe("an authority", () => {
  it("may sign, for as many days as asked", () => {
    const facts = readCertificate(authority.certificatePem);
    expect(facts).toMatchObject({ commonName: "test-ca", isAuthority: true, notAfter: now - 60_000 + 100 * DAY });
    expect(isIssuedBy(authority.certificatePem, authority.certificatePem)).toBe(true);
  });
});

describe("a certificate", () => {
  it("says whom it names, when and for what", async () => {
    const subject = {
      commonName: "a, b=c ü",
      organizations: ["system:masters", "x+y"],
      dnsNames: ["localhost"],
      ipAddresses: ["127.0.0.1", "fd00::1"],
    };
    const leaf = await issueCertificate({ ...subject, ...terms, authority, usages: ["client", "server"] });
    expect(readCertificate(leaf.certificatePem)).toEqual({
      ...subject,
      emailAddresses: [],
      ...terms,
      isAuthority: false,
    });
    expect(new X509Certificate(leaf.certificatePem).keyUsage).toEqual(["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]);
    expect(isKeyOf(leaf)).toBe(true);
    expect(isKeyOf({ ...leaf, keyPem: authority.keyPem })).toBe(false);
    expect(isIssuedBy(leaf.certificatePem, authority.certificatePem)).toBe(true);
  });

  it("does not outlive its authority", async () => {
    const notAfter = now + 1000 * DAY;
    const leaf = await issueCertificate({ commonName: "a", ...terms, notAfter, authority, usages: ["client"] });
    expect(readCertificate(leaf.certificatePem).notAfter).toBe(now - 60_000 + 100 * DAY);
  });

  it("refuses an address that is none", async () => {
    const leaf = issueCertificate({ commonName: "a", ipAddresses: ["1.2.3"], ...terms, authority, usages: ["server"] });
    await expect(leaf).rejects.toMatchObject({ code: "InvalidRequest" });
  });

  it("works for both ends of a TLS connection", async () => {
    const server = await issueCertificate({
      commonName: "s",
      dnsNames: ["localhost"],
      ...terms,
      authority,
      usages: ["server"],
    });
    const client = await issueCertificate({
      commonName: "c",
      organizations: ["g"],
      ...terms,
      authority,
      usages: ["client"],
    });
    const listener = createServer({
      cert: server.certificatePem,
      key: server.keyPem,
      ca: authority.certificatePem,
      requestCert: true,
    }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    const accepted = once(listener, "secureConnection");
    const socket = connect({
      host: "127.0.0.1",
      port: typeof address === "object" ? (address?.port ?? 0) : 0,
      servername: "localhost",
      ca: authority.certificatePem,
      cert: client.certificatePem,
      key: client.keyPem,
    });
    await once(socket, "secureConnect");
    const [peer]: TLSSocket[] = await accepted;
    expect(peer?.authorized).toBe(true);
    expect(peer?.getPeerCertificate().subject).toMatchObject({ CN: "c", O: "g" });
    socket.destroy();
    peer?.destroy();
    listener.close();
  });
});

describe("a request", () => {
  const subject = {
    commonName: "system:node:a",
    organizations: ["system:nodes"],
    dnsNames: ["a.example"],
    ipAddresses: ["10.0.0.1", "::1"],
  };

  it("says what it asks for", async () => {
    const { requestPem } = await createCertificateRequest(subject);
    expect(await readCertificateRequest(requestPem)).toMatchObject({
      ...subject,
      emailAddresses: [],
      uris: [],
      isSignatureValid: true,
    });
  });

  it("becomes a certificate for its key", async () => {
    const { requestPem, keyPem } = await createCertificateRequest(subject);
    const certificatePem = await signCertificateRequest({
      ...terms,
      authority,
      usages: ["digital signature", "client auth"],
      requestPem,
    });
    expect(isKeyOf({ certificatePem, keyPem })).toBe(true);
    expect(isIssuedBy(certificatePem, authority.certificatePem)).toBe(true);
    expect(new X509Certificate(certificatePem).keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(readCertificate(certificatePem)).toEqual({ ...subject, emailAddresses: [], ...terms, isAuthority: false });
  });

  it("that was changed after it was signed is seen, and not signed", async () => {
    const { requestPem } = await createCertificateRequest(subject);
    const der = Buffer.from(requestPem.replace(/-----.*-----|\n/g, ""), "base64");
    der.write("b", der.indexOf("system:node:a") + "system:node:".length);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(await readCertificateRequest(forged)).toMatchObject({
      commonName: "system:node:b",
      isSignatureValid: false,
    });
    const signed = signCertificateRequest({
      ...terms,
      authority,
      usages: ["digital signature", "client auth"],
      requestPem: forged,
    });
    await expect(signed).rejects.toMatchObject({ code: "InvalidRequest" });
  });

  it("is not signed for usages that nobody knows", async () => {
    const { requestPem } = await createCertificateRequest(subject);
    const signed = signCertificateRequest({ ...terms, authority, usages: ["client auth", "fun"], requestPem });
    await expect(signed).rejects.toMatchObject({ message: 'unrecognized usage values: ["fun"]' });
  });

  it.each([
    ["nothing", ""],
    ["another block", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    ["garbage inside", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"],
  ])("is refused when it is %s", async (_what, text) => {
    await expect(readCertificateRequest(text)).rejects.toMatchObject({ code: "InvalidRequest" });
  });

  it("is signed by an RSA authority as well", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const keyPem = privateKey.export({ format: "pem", type: "pkcs1" }).toString();
    const { requestPem } = await createCertificateRequest(subject);
    const rsa = { certificatePem: authority.certificatePem, keyPem };
    const pem = await signCertificateRequest({ ...terms, authority: rsa, usages: ["server auth"], requestPem });
    expect(new X509Certificate(pem).verify(createPublicKey(keyPem))).toBe(true);
  });
});
