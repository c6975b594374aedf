import { createHash, createPublicKey } from "node:crypto";
import { posix } from "node:path";
import type { Files } from "../../../host/port.ts";
import { createCertificateRequest, readCertificateRequest } from "../../../pki/certificate-request.ts";
import { ensureDirectory, readText } from "./certificate-store.ts";
import { findPrivateKey, findRequestPem } from "./pem-pair.ts";
import type { NamedRequest } from "./request-certificate.ts";

/** A node's request for its first certificate, with the key that is kept until it is answered. */
export interface PendingRequest extends NamedRequest {
  readonly subject: NodeSubject;
  readonly keyPem: string;
}

/** The signer decides what kind of client the node authenticates as. */
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
/** The usages omit key encipherment, which is for RSA keys; ours are on P-256. */
const CLIENT_USAGES: readonly string[] = ["digital signature", "client auth"];

interface PendingDeps {
  readonly files: Pick<Files, "read" | "writeAtomically" | "makeDirectory" | "stat" | "remove">;
}

interface PendingOptions {
  readonly nodeName: string;
  readonly certDirectory: string;
}

/**
 * Returns the request that an earlier run began, or a new one. Its key is on disk before the API server hears of it, in
 * the file that upstream uses (pkg/kubelet/certificate/bootstrap), and the request itself is beside it: a run after a
 * crash asks for the same certificate under the same name. A key without a request, as a Go kubelet leaves it, begins
 * anew.
 */
export async function ensurePendingRequest({ files }: PendingDeps, options: PendingOptions): Promise<PendingRequest> {
  const path = pendingPath(options);
  const subject = nodeSubject(options.nodeName);
  const kept = await readPending(await readText(files, path), subject);
  if (kept !== undefined) return kept;
  await ensureDirectory(files, options.certDirectory);
  const { requestPem, keyPem } = await createCertificateRequest(subject);
  await files.writeAtomically(path, `${keyPem.trimEnd()}\n${requestPem}`, 0o600);
  return describe(subject, { requestPem, keyPem });
}

/** Removes the pending request. This happens when its certificate is in use, or can never be. */
export async function removePendingRequest({ files }: PendingDeps, options: PendingOptions): Promise<void> {
  await files.remove(pendingPath(options));
}

interface NodeSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Returns the subject by which the node authorizer recognizes a node. */
export function nodeSubject(nodeName: string): NodeSubject {
  return { commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] };
}

function pendingPath({ certDirectory }: PendingOptions): string {
  return posix.join(certDirectory, "kubelet-client.key.tmp");
}

/** The result is undefined for a request of another node name, and for a torn or foreign file. */
async function readPending(text: string | undefined, subject: NodeSubject): Promise<PendingRequest | undefined> {
  const keyPem = findPrivateKey(text ?? "");
  const requestPem = findRequestPem(text ?? "");
  if (keyPem === undefined || requestPem === undefined) return undefined;
  try {
    const facts = await readCertificateRequest(requestPem);
    const isOurs = facts.commonName === subject.commonName && facts.publicKeyPem === publicKeyOf(keyPem, "pem");
    return isOurs && facts.isSignatureValid ? describe(subject, { requestPem, keyPem }) : undefined;
  } catch {
    return undefined;
  }
}

function describe(
  subject: NodeSubject,
  { requestPem, keyPem }: { requestPem: string; keyPem: string },
): PendingRequest {
  return {
    name: digestName(subject, keyPem),
    subject,
    requestPem,
    keyPem,
    signerName: CLIENT_SIGNER,
    usages: CLIENT_USAGES,
  };
}

/** This is upstream's `digestedName`: the same key, subject and usages always have the same name. */
function digestName({ commonName, organizations }: NodeSubject, keyPem: string): string {
  const hash = createHash("sha512-256");
  const parts = [publicKeyOf(keyPem, "der"), ...[commonName, ...organizations, ...CLIENT_USAGES].map(Buffer.from)];
  for (const part of parts) hash.update(`${Buffer.from(part).toString("base64url")}|`);
  return `node-csr-${hash.digest("base64url")}`;
}

function publicKeyOf(keyPem: string, format: "pem" | "der"): string | Buffer {
  const key = createPublicKey(keyPem);
  if (format === "der") return key.export({ type: "spki", format });
  return `${key.export({ type: "spki", format }).toString().trimEnd()}\n`;
}
