import { X509Certificate } from "node:crypto";
import type { FieldError } from "../../../api/field-error.ts";
import { invalid, tooLong } from "../../../api/validation/problems.ts";
import { findPemBlocks, type PemBlock } from "./pem-blocks.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * The problems of a text of PEM as trusted certificates: each must be an authority's and occur once. Text between them
 * is allowed (pkg/apis/certificates/validation, `validateTrustBundle`).
 */
export function validateTrustAnchors(field: string, text: string): FieldError[] {
  if (Buffer.byteLength(text) > MAX_BYTES) return [tooLong(field, MAX_BYTES)];
  const complain = (detail: string) => invalid(field, "<value omitted>", detail);
  const blocks = findPemBlocks(text);
  const malformed = blocks.flatMap((block, index) => {
    const problem = whyNoAnchor(block);
    return problem === undefined ? [] : [complain(`entry ${index} ${problem}`)];
  });
  if (malformed.length > 0) return malformed.slice(0, MAX_PROBLEMS);
  if (blocks.length === 0) return [complain("at least one trust anchor must be provided")];
  return findRepeated(blocks)
    .slice(0, MAX_PROBLEMS)
    .map((indices) => complain(`duplicate trust anchor (indices [${indices.join(" ")}])`));
}

/** No more problems of one text are reported than this. */
const MAX_PROBLEMS = 100;

function whyNoAnchor({ label, hasHeaders, bytes }: PemBlock): string | undefined {
  if (label !== "CERTIFICATE") return `has bad block type: ${label}`;
  if (hasHeaders) return "has PEM block headers";
  const certificate = readCertificate(bytes);
  if (certificate === undefined) return "does not parse as X.509";
  return certificate.ca ? undefined : "does not have the CA bit set";
}

/** Undefined for bytes that are no certificate, or have others behind it. */
function readCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(bytes);
    return certificate.raw.equals(bytes) ? certificate : undefined;
  } catch {
    return undefined;
  }
}

/** The places of each certificate that occurs more than once. */
function findRepeated(blocks: readonly PemBlock[]): number[][] {
  const places = new Map<string, number[]>();
  for (const [index, { bytes }] of blocks.entries()) {
    const key = bytes.toString("base64");
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else known.push(index);
  }
  return [...places.values()].filter((indices) => indices.length > 1);
}
