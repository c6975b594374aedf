import { X509Certificate } from "node:crypto";
import { CodedError } from "../../../src/base/errors.ts";
import { findPemBlocks } from "../../../src/control-plane/kinds/certificates/pem-blocks.ts";
import { createCertificateRequest, readCertificateRequest } from "../../../src/pki/certificate-request.ts";
import { createCertificateAuthority, issueCertificate } from "../../../src/pki/issue-certificate.ts";
import { readCertificate } from "../../../src/pki/read-certificate.ts";
import { promise, type Target } from "../target.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const REQUEST = "CERTIFICATE REQUEST";
const NODE = { commonName: "system:node:n1", organizations: ["system:nodes"], dnsNames: ["n1"], ipAddresses: ["::1"] };

/** Certificates and requests, in DER behind a byte that says which, and as the text of a PEM file. */
export const certificatesTarget: Target = {
  name: "certificates",
  runs: 256,
  seeds: await makeSeeds(),
  words: [
    ...[Buffer.from([0x0c]), Buffer.from([0x13]), Buffer.from([0x14]), Buffer.from([0x16]), Buffer.from([0x1e])],
    ...[
      Buffer.from([6, 3, 0x55, 4, 3]),
      Buffer.from([6, 3, 0x55, 4, 10]),
      Buffer.from([0x30, 0x80]),
      Buffer.from([0x31, 0]),
    ],
    ...[
      "system:masters",
      "system:node:",
      "system:nodes",
      Buffer.from([0x82, 0xff, 0xff]),
      "-----BEGIN CERTIFICATE-----\n",
    ],
  ],
  maxBytes: 16 * 1024,
  setUp: async () => ({
    async run(input) {
      findPemBlocks(input.toString("latin1"));
      const isRequest = (input[0] ?? 0) % 2 === 1;
      const pem = pemOf(input.subarray(1), isRequest ? REQUEST : "CERTIFICATE");
      await readOrRefuse(() => readCertificateRequest(pem));
      await readOrRefuse(() => compareReaders(pem));
      await readOrRefuse(() => readCertificateRequest(input.toString("latin1")));
    },
  }),
};

/** What is told of a certificate is what the library of TLS tells of it. */
function compareReaders(pem: string): void {
  const { notAfter, isAuthority } = readCertificate(pem);
  const certificate = new X509Certificate(pem);
  promise(certificate.ca === isAuthority, "it is an authority to one reader only");
  promise(
    Number.isNaN(notAfter) || Date.parse(certificate.validTo) === notAfter,
    "two readers see two ends of its life",
  );
}

async function readOrRefuse(read: () => unknown): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
  }
}

function pemOf(der: Buffer, label: string): string {
  const lines = der.toString("base64").replaceAll(/(.{64})/g, "$1\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

async function makeSeeds(): Promise<Buffer[]> {
  const authority = await createCertificateAuthority({ commonName: "kubernetes", days: 10, now: NOW });
  const terms = { authority, notBefore: NOW, notAfter: NOW + DAY_MS, usages: ["client", "server"] as const };
  const { certificatePem } = await issueCertificate({ ...NODE, ...terms });
  const { requestPem } = await createCertificateRequest(NODE);
  const der = (pem: string, first: number) => {
    const [block] = findPemBlocks(pem);
    return Buffer.concat([Buffer.from([first]), block?.bytes ?? Buffer.alloc(0)]);
  };
  return [der(authority.certificatePem, 0), der(certificatePem, 0), der(requestPem, 1), Buffer.from(requestPem)];
}
