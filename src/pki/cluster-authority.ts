import { type CertificateFolder, writePair } from "./certificate-folder.ts";
import { createCertificateAuthority } from "./issue-certificate.ts";
import { PkiError } from "./pki-error.ts";
import { isUsablePair, type KeyedCertificate, readCertificate, splitCertificates } from "./read-certificate.ts";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
/** A clock that says it is earlier is wrong, because this program is newer. */
const EARLIEST_NOW = Date.UTC(2026, 0, 1);

/** The authority that signs, and all that are believed. */
export interface ClusterAuthority {
  readonly authority: KeyedCertificate;
  /**
   * The certificates of all authorities that are believed, the signing one first. There are several while one takes the
   * place of another.
   */
  readonly trustedPem: string;
}

/**
 * Reads the authority, or makes one when nothing of the cluster is there yet and when the one that is there has expired.
 * Where it is damaged or half missing and leaves exist, this throws a PkiError `AuthorityLost` that says what can be
 * done.
 *
 * `ca.crt` may hold several certificates: that of `ca.key` signs, and all are believed.
 */
export async function ensureAuthority(
  folder: CertificateFolder,
  { now, backdateMs }: { readonly now: number; readonly backdateMs: number },
): Promise<ClusterAuthority> {
  const [certificateText, keyPem] = [await folder.read("ca.crt"), await folder.read("ca.key")];
  const make = async (): Promise<ClusterAuthority> => {
    const authority = await makeAuthority("kubernetes", now - backdateMs);
    await writePair(folder, "ca", authority);
    return { authority, trustedPem: authority.certificatePem };
  };
  const found = keyPem === undefined ? undefined : findAuthority(certificateText ?? "", keyPem);
  if (found === undefined) {
    const leaves = await Promise.all(["apiserver.crt", "admin.crt"].map((name) => folder.read(name)));
    if (leaves.some((leaf) => leaf !== undefined)) throw authorityLost(folder.directory);
    if (certificateText !== undefined || keyPem !== undefined) {
      folder.note("the certificate authority was incomplete and nothing was issued by it: made a new one");
    }
    return await make();
  }
  if (readCertificate(found.authority.certificatePem).notAfter > now) return found;
  folder.note("the certificate authority expired: made a new one, earlier kubeconfigs are void");
  return await make();
}

/**
 * Reads the authority of front proxies, or makes another where it is missing, damaged or has expired. Nobody is cut off
 * by a new one: it is published in the cluster, and those who believe it follow.
 */
export async function ensureFrontAuthority(
  folder: CertificateFolder,
  { now, backdateMs }: { readonly now: number; readonly backdateMs: number },
): Promise<KeyedCertificate> {
  const [certificatePem, keyPem] = [await folder.read("front-proxy-ca.crt"), await folder.read("front-proxy-ca.key")];
  if (certificatePem !== undefined && keyPem !== undefined) {
    const found = { certificatePem, keyPem };
    if (isUsablePair(found) && readCertificate(certificatePem).notAfter > now) return found;
    folder.note("front-proxy-ca.crt was damaged or had expired: made a new one");
  }
  const made = await makeAuthority("front-proxy-ca", now - backdateMs);
  await writePair(folder, "front-proxy-ca", made);
  return made;
}

/**
 * An authority cannot be renewed, and a machine whose clock is years off until the network tells it the time makes one
 * before that: it is valid before and after, whichever way the clock goes.
 */
async function makeAuthority(commonName: string, now: number): Promise<KeyedCertificate> {
  const notBefore = Math.min(now, EARLIEST_NOW);
  const notAfter = Math.max(now, EARLIEST_NOW) + AUTHORITY_DAYS * DAY_MS;
  return await createCertificateAuthority({ commonName, now: notBefore, days: (notAfter - notBefore) / DAY_MS });
}

/** Undefined where no certificate is that of the key. */
function findAuthority(text: string, keyPem: string): ClusterAuthority | undefined {
  const certificates = splitCertificates(text);
  const signing = certificates.find((certificatePem) => isUsablePair({ certificatePem, keyPem }));
  if (signing === undefined) return undefined;
  const others = certificates.filter((certificatePem) => certificatePem !== signing && isReadable(certificatePem));
  return { authority: { certificatePem: signing, keyPem }, trustedPem: [signing, ...others].join("") };
}

function isReadable(certificatePem: string): boolean {
  try {
    readCertificate(certificatePem);
    return true;
  } catch {
    return false;
  }
}

function authorityLost(directory: string): PkiError {
  const message =
    `the certificate authority of ${directory} is damaged or incomplete, and certificates that it issued exist: ` +
    "bring ca.crt and ca.key back from a backup, or remove the directory to begin anew with other credentials";
  return new PkiError("AuthorityLost", message);
}
