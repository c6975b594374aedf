import { isIP } from "node:net";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import type { CertificateSubject } from "./certificate-names.ts";
import { type CertificateUsage, createCertificateAuthority, issueCertificate } from "./issue-certificate.ts";
import { PkiError } from "./pki-error.ts";
import { compressAddress, isIssuedBy, isKeyOf, type KeyedCertificate, readCertificate } from "./read-certificate.ts";
import { createTokenKey, readTokenKey, type TokenKey } from "./token-key.ts";

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** A leaf with less than this part of its life left is renewed. */
const RENEW_BELOW = 0.3;
/** Clients whose clock is a little behind accept a fresh certificate. */
const BACKDATE_MS = 300_000;
const MAX_FILE_BYTES = 64 * 1024;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

const SERVING_NAMES = [
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  "localhost",
];
const LOOPBACK = ["127.0.0.1", "::1"];
/** The first address of the default service range, which is the `kubernetes` service's. */
const SERVICE_IP = "10.96.0.1";

/** The files that certificates are kept in. Errors as Node.js gives them; `host/port.ts` has what fits. */
export interface CertificateFiles {
  read(path: string, maxBytes: number): Promise<Buffer>;
  writeAtomically(path: string, data: string, mode: number): Promise<void>;
  makeDirectory(path: string, mode: number): Promise<void>;
}

interface ClusterCertificatesOptions {
  readonly files: CertificateFiles;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Names and addresses that the API server is reached by, besides loopback and its service's. */
  readonly hosts: readonly string[];
}

/** Everything by which the parts of a cluster know each other. */
export interface ClusterCertificates {
  readonly authority: KeyedCertificate;
  /** The API server's own certificate. */
  readonly serving: KeyedCertificate;
  /** `kubernetes-admin` of `system:masters`: may do everything. */
  readonly admin: KeyedCertificate;
  /** The certificate by which nodes know the API server: of `system:masters`, too. */
  readonly nodeClient: KeyedCertificate;
  readonly tokenKey: TokenKey;
  /** A sentence for the log about each repair and renewal; empty when all is well or all is new. */
  readonly notes: readonly string[];
}

interface Folder {
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
  note(sentence: string): void;
}

interface LeafPlan extends CertificateSubject {
  /** `<file>.crt` and `<file>.key`. */
  readonly file: string;
  readonly usages: readonly CertificateUsage[];
}

/**
 * Reads what the directory holds (named as kubeadm names it), makes what is missing, and renews leaves that are damaged,
 * of another authority, near their end or short of a host.
 *
 * The authority has other rules, because a new one cuts off everyone who has a kubeconfig or a certificate. It is made
 * when nothing of the cluster is there yet, and replaced when it has expired and so is of no use. Where it is damaged
 * or half missing and leaves exist, this throws a PkiError `AuthorityLost` that says what can be done.
 */
export async function ensureClusterCertificates(
  directory: string,
  options: ClusterCertificatesOptions,
): Promise<ClusterCertificates> {
  await options.files.makeDirectory(directory, PRIVATE_DIRECTORY);
  const notes: string[] = [];
  const folder = openFolder(directory, options.files, notes);
  const [authority, tokenKey] = await Promise.all([
    ensureAuthority(folder, { directory, now: options.now }),
    ensureTokenKey(folder),
  ]);
  const [serving, admin, nodeClient] = await Promise.all(
    leafPlans(options.hosts).map((plan) => ensureLeaf(folder, plan, { authority, now: options.now })),
  );
  if (!serving || !admin || !nodeClient) throw new TypeError("three leaves were planned");
  return { authority, serving, admin, nodeClient, tokenKey, notes };
}

function leafPlans(hosts: readonly string[]): readonly LeafPlan[] {
  const isAddress = (host: string) => isIP(host) !== 0;
  const serving: LeafPlan = {
    file: "apiserver",
    commonName: "kube-apiserver",
    usages: ["server"],
    dnsNames: [...new Set([...SERVING_NAMES, ...hosts.filter((host) => !isAddress(host))])],
    ipAddresses: [...new Set([SERVICE_IP, ...LOOPBACK, ...hosts.filter(isAddress).map(compressAddress)])],
  };
  const organizations = ["system:masters"];
  return [
    serving,
    { file: "admin", commonName: "kubernetes-admin", organizations, usages: ["client"] },
    {
      file: "apiserver-kubelet-client",
      commonName: "kube-apiserver-kubelet-client",
      organizations,
      usages: ["client"],
    },
  ];
}

async function ensureAuthority(
  folder: Folder,
  { directory, now }: { directory: string; now: number },
): Promise<KeyedCertificate> {
  const found = { certificatePem: await folder.read("ca.crt"), keyPem: await folder.read("ca.key") };
  const { certificatePem, keyPem } = found;
  if (certificatePem === undefined || keyPem === undefined || !isUsablePair({ certificatePem, keyPem })) {
    const leaves = await Promise.all(["apiserver.crt", "admin.crt"].map((name) => folder.read(name)));
    if (leaves.some((leaf) => leaf !== undefined)) {
      const message =
        `the certificate authority of ${directory} is damaged or incomplete, and certificates that it issued exist: ` +
        "bring ca.crt and ca.key back from a backup, or remove the directory to begin anew with other credentials";
      throw new PkiError("AuthorityLost", message);
    }
    if (certificatePem !== undefined || keyPem !== undefined) {
      folder.note("the certificate authority was incomplete and nothing was issued by it: made a new one");
    }
    return makeAuthority(folder, now);
  }
  if (readCertificate(certificatePem).notAfter > now) return { certificatePem, keyPem };
  folder.note("the certificate authority expired: made a new one, earlier kubeconfigs are void");
  return makeAuthority(folder, now);
}

async function makeAuthority(folder: Folder, now: number): Promise<KeyedCertificate> {
  const authority = await createCertificateAuthority({
    commonName: "kubernetes",
    days: AUTHORITY_DAYS,
    now: now - BACKDATE_MS,
  });
  await writePair(folder, "ca", authority);
  return authority;
}

async function ensureLeaf(
  folder: Folder,
  plan: LeafPlan,
  { authority, now }: { authority: KeyedCertificate; now: number },
): Promise<KeyedCertificate> {
  const [certificatePem, keyPem] = await Promise.all([
    folder.read(`${plan.file}.crt`),
    folder.read(`${plan.file}.key`),
  ]);
  if (certificatePem !== undefined && keyPem !== undefined) {
    const current = { certificatePem, keyPem };
    const problem = leafProblem(current, plan, { authority, now });
    if (problem === undefined) return current;
    folder.note(`${plan.file}.crt ${problem}: made a new one`);
  } else if (certificatePem !== undefined || keyPem !== undefined) {
    folder.note(`${plan.file}.crt or its key was missing: made a new one`);
  }
  const notBefore = now - BACKDATE_MS;
  const leaf = await issueCertificate({ ...plan, authority, notBefore, notAfter: notBefore + LEAF_DAYS * DAY_MS });
  await writePair(folder, plan.file, leaf);
  return leaf;
}

/** Why the leaf cannot stay; undefined when it can. */
function leafProblem(
  leaf: KeyedCertificate,
  plan: LeafPlan,
  { authority, now }: { authority: KeyedCertificate; now: number },
): string | undefined {
  if (!isUsablePair(leaf)) return "was damaged or not of its key";
  if (!isIssuedBy(leaf.certificatePem, authority.certificatePem)) return "was of another authority";
  const facts = readCertificate(leaf.certificatePem);
  const organizations = plan.organizations ?? [];
  const isSameSubject = facts.commonName === plan.commonName && organizations.join() === facts.organizations.join();
  if (!isSameSubject) return "was somebody else's";
  if (now < facts.notBefore) return "was not valid yet";
  if (now > facts.notAfter) return "had expired";
  // An authority near its own end can give no more life than it has.
  const end = Math.min(facts.notBefore + LEAF_DAYS * DAY_MS, readCertificate(authority.certificatePem).notAfter);
  const isShortened = facts.notAfter >= end && end < facts.notBefore + LEAF_DAYS * DAY_MS;
  const left = (facts.notAfter - now) / (facts.notAfter - facts.notBefore);
  if (left < RENEW_BELOW && !isShortened) return "was near its end";
  const covered = new Set([...facts.dnsNames, ...facts.ipAddresses]);
  const uncovered = [...(plan.dnsNames ?? []), ...(plan.ipAddresses ?? [])].find((host) => !covered.has(host));
  return uncovered === undefined ? undefined : `did not cover ${uncovered}`;
}

function isUsablePair(pair: KeyedCertificate): boolean {
  try {
    return isKeyOf(pair);
  } catch {
    return false;
  }
}

/** The public half is for other programs; it follows from the private one and is written whenever it differs. */
async function ensureTokenKey(folder: Folder): Promise<TokenKey> {
  const [privatePem, publicPem] = await Promise.all([folder.read("sa.key"), folder.read("sa.pub")]);
  let key = privatePem === undefined ? undefined : tokenKeyIn(privatePem);
  if (key === undefined) {
    if (privatePem !== undefined || publicPem !== undefined) {
      folder.note("sa.key was damaged or missing: made a new one, service account tokens issued before are void");
    }
    key = await createTokenKey();
    await folder.write("sa.key", key.privatePem);
  }
  if (key.publicPem !== publicPem) await folder.write("sa.pub", key.publicPem);
  return key;
}

function tokenKeyIn(privatePem: string): TokenKey | undefined {
  try {
    return readTokenKey(privatePem);
  } catch {
    return undefined;
  }
}

/** The key first: a certificate without its key looks like a loss, a key alone like what it is, a start cut short. */
async function writePair(folder: Folder, file: string, { certificatePem, keyPem }: KeyedCertificate): Promise<void> {
  await folder.write(`${file}.key`, keyPem);
  await folder.write(`${file}.crt`, certificatePem);
}

function openFolder(directory: string, files: CertificateFiles, notes: string[]): Folder {
  return {
    async read(name) {
      try {
        return (await files.read(join(directory, name), MAX_FILE_BYTES)).toString();
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined;
        throw error;
      }
    },
    write: (name, text) => files.writeAtomically(join(directory, name), text, PRIVATE_FILE),
    note: (sentence) => notes.push(sentence),
  };
}
