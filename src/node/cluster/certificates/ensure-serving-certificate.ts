import { isIP } from "node:net";
import { posix } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";
import { createCertificateAuthority, issueCertificate } from "../../../pki/issue-certificate.ts";
import { type KeyedCertificate, readCertificate } from "../../../pki/read-certificate.ts";
import { ensureDirectory, readText } from "./certificate-store.ts";
import { readPair } from "./pem-pair.ts";

interface ServingCertificateDeps {
  readonly files: Pick<Files, "read" | "stat" | "makeDirectory" | "writeAtomically">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

interface ServingCertificateOptions {
  readonly certDirectory: string;
  /** The host's name or address. */
  readonly hostName: string;
}

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 365;
const RENEW_BELOW = 0.3;
/** The certificate begins this much in the past, so that a client whose clock is a little behind accepts it. */
const BACKDATE_MS = 3_600_000;
/** `node-1@1767225600`, the common name that upstream's generator gives. */
const OWN_NAME = /@\d+$/;

/**
 * Returns the certificate with which the node serves its own API where the configuration names none and none is
 * requested from the cluster: `kubelet.crt` and `kubelet.key`, signed by an authority that is forgotten at once
 * (`InitializeTLS` in cmd/kubelet/app/server.go). A pair that is already there is used, whatever its origin; a pair of
 * this kind is made anew when less than 30 % of its life is left.
 */
export async function ensureServingCertificate(
  { files, clock, log }: ServingCertificateDeps,
  { certDirectory, hostName }: ServingCertificateOptions,
): Promise<KeyedCertificate> {
  const [certificatePath, keyPath] = [
    posix.join(certDirectory, "kubelet.crt"),
    posix.join(certDirectory, "kubelet.key"),
  ];
  const [certificateText = "", keyText = ""] = [await readText(files, certificatePath), await readText(files, keyPath)];
  const found = readPair(certificateText, keyText);
  if (found !== undefined && !isOwnAndDue(found, clock.now())) return found;
  const made = await makeSelfSigned(hostName, clock.now());
  await ensureDirectory(files, certDirectory);
  // A crash between the two writes leaves halves that do not belong together, and the next start makes both anew.
  await files.writeAtomically(keyPath, made.keyPem, 0o600);
  await files.writeAtomically(certificatePath, made.certificatePem, 0o644);
  log.info("Using self-signed cert", { certFile: certificatePath, keyFile: keyPath });
  return made;
}

function isOwnAndDue({ certificatePem }: KeyedCertificate, now: number): boolean {
  const { commonName, notBefore, notAfter } = readCertificate(certificatePem);
  return notAfter - now < (notAfter - notBefore) * RENEW_BELOW && OWN_NAME.test(commonName);
}

async function makeSelfSigned(hostName: string, now: number): Promise<KeyedCertificate> {
  const suffix = Math.floor(now / 1000);
  const notBefore = now - BACKDATE_MS;
  const authority = await createCertificateAuthority({
    commonName: `${hostName}-ca@${suffix}`,
    days: LIFETIME_DAYS,
    now: notBefore,
  });
  const { certificatePem, keyPem } = await issueCertificate({
    commonName: `${hostName}@${suffix}`,
    ...(isIP(hostName) === 0 ? { dnsNames: [hostName] } : { ipAddresses: [hostName] }),
    usages: ["server"],
    authority,
    notBefore,
    notAfter: notBefore + LIFETIME_DAYS * DAY_MS,
  });
  return { certificatePem: certificatePem + authority.certificatePem, keyPem };
}
