import { X509Certificate } from "node:crypto";
import { messageOf } from "../../../base/errors.ts";
import { findPemBlocks } from "./pem-blocks.ts";

/**
 * Says why the base64 of PEM is no certificate request; undefined when it looks like one. The signer reads its content.
 */
export function whyNoRequest(request: string): string | undefined {
  const label = findPemBlocks(decode(request))[0]?.label ?? "";
  return label === "CERTIFICATE REQUEST" ? undefined : "PEM block type must be CERTIFICATE REQUEST";
}

/**
 * Says why the base64 of PEM is no certificate with its chain; undefined when it is one. Text between the blocks is
 * allowed.
 */
export function whyNoCertificates(certificates: string): string | undefined {
  const blocks = findPemBlocks(decode(certificates));
  for (const { label, hasHeaders, bytes } of blocks) {
    if (label !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found "${label}"`;
    if (hasHeaders) return "no PEM block headers are permitted";
    try {
      new X509Certificate(bytes);
    } catch (error) {
      return messageOf(error);
    }
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

const decode = (base64: string) => Buffer.from(base64, "base64").toString("latin1");
