import { isIP } from "node:net";
import { FRONT_PROXY_USER, KUBELET_CLIENT_USER, PROXY_USER } from "../api/user-names.ts";
import {
  type CertificateFiles,
  type CertificateFolder,
  openCertificateFolder,
  writePair,
} from "./certificate-folder.ts";
import type { CertificateSubject } from "./certificate-names.ts";
import { type ClusterAuthority, ensureAuthority, ensureFrontAuthority } from "./cluster-authority.ts";
import { type CertificateUsage, issueCertificate } from "./issue-certificate.ts";
import {
  compressAddress,
  isIssuedBy,
  isUsablePair,
  type KeyedCertificate,
  readCertificate,
} from "./read-certificate.ts";
import { createTokenKey, readTokenKey, type TokenKey } from "./token-key.ts";

const DAY_MS = 86_400_000;
const LEAF_DAYS = 365;
/** A leaf with less than this part of its life left is renewed. */
export const RENEW_BELOW = 0.3;
/** Clients whose clock is a little behind accept a fresh certificate. */
const BACKDATE_MS = 300_000;
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

/** The leaves that a cluster wants. */
export interface WantedLeaves {
  /** Names and addresses that the API server is reached by, besides loopback and its service's. */
  readonly hosts: readonly string[];
  /** A node that gets a client certificate, and its proxy one of its own. Default: none does. */
  readonly nodeName?: string | undefined;
}

interface ClusterCertificatesOptions extends WantedLeaves {
  readonly files: CertificateFiles;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Everything by which the parts of a cluster know each other. */
export interface ClusterCertificates extends ClusterAuthority {
  /** The API server's own certificate. */
  readonly serving: KeyedCertificate;
  /** `kubernetes-admin` of `system:masters`: may do everything. */
  readonly admin: KeyedCertificate;
  /** The certificate by which nodes know the API server: of no organization, because a role says what it may do. */
  readonly nodeClient: KeyedCertificate;
  /** The authority of those who may tell other API servers in whose name they ask. It signs nothing else. */
  readonly frontAuthority: KeyedCertificate;
  /** The certificate by which the API servers of others know ours. */
  readonly frontProxy: KeyedCertificate;
  /** The client certificate of the node that was named; undefined where none was. */
  readonly node: KeyedCertificate | undefined;
  /** The client certificate of that node's proxy of services. */
  readonly proxy: KeyedCertificate | undefined;
  readonly tokenKey: TokenKey;
  /** A sentence for the log about each repair and renewal; empty when all is well or all is new. */
  readonly notes: readonly string[];
}

interface LeafPlan extends CertificateSubject {
  /** `<file>.crt` and `<file>.key`. */
  readonly file: string;
  readonly usages: readonly CertificateUsage[];
  /** The authority for front proxies signs it, and not the cluster's. */
  readonly isFrontProxy?: true;
}

/**
 * Reads what the directory holds (named as kubeadm names it), makes what is missing, and renews leaves that are damaged,
 * of another authority, near their end or short of a host.
 *
 * The authority has other rules (`ensureAuthority`), because a new one cuts off everyone who has a kubeconfig or a
 * certificate. It is never renewed here.
 */
export async function ensureClusterCertificates(
  directory: string,
  options: ClusterCertificatesOptions,
): Promise<ClusterCertificates> {
  await options.files.makeDirectory(directory, PRIVATE_DIRECTORY);
  const notes: string[] = [];
  const folder = openCertificateFolder(directory, options.files, (note) => notes.push(note));
  const [{ authority, trustedPem }, frontAuthority, tokenKey] = await Promise.all([
    ensureAuthority(folder, { now: options.now, backdateMs: BACKDATE_MS }),
    ensureFrontAuthority(folder, { now: options.now, backdateMs: BACKDATE_MS }),
    ensureTokenKey(folder),
  ]);
  const leaves = await Promise.all(
    leafPlans(options).map((plan) => ensureLeaf(folder, plan, { authority, frontAuthority, now: options.now })),
  );
  return { authority, trustedPem, frontAuthority, ...namedLeaves(leaves), tokenKey, notes };
}

/**
 * Makes new ones of the leaves that are near their end, and writes them. The authority, and what is on disk, are taken
 * to be as they were. Returns the same object when all leaves stay; else `notes` tells of each new one.
 */
export async function renewLeaves(
  directory: string,
  current: ClusterCertificates,
  options: ClusterCertificatesOptions,
): Promise<ClusterCertificates> {
  const { authority, frontAuthority, serving, admin, nodeClient, frontProxy, node, proxy } = current;
  const held = [serving, admin, nodeClient, frontProxy, node, proxy];
  const notes: string[] = [];
  const folder = openCertificateFolder(directory, options.files, (note) => notes.push(note));
  const context = { authority, frontAuthority, now: options.now };
  const leaves = await Promise.all(
    leafPlans(options).map(async (plan, index) => {
      const leaf = held[index];
      return leaf === undefined
        ? await makeLeaf(folder, plan, context)
        : await keepLeaf(folder, plan, { leaf, context });
    }),
  );
  return leaves.every((leaf, index) => leaf === held[index]) ? current : { ...current, ...namedLeaves(leaves), notes };
}

/** The leaves in the order of their plans. */
function namedLeaves(leaves: readonly KeyedCertificate[]) {
  const [serving, admin, nodeClient, frontProxy, node, proxy] = leaves;
  if (!serving || !admin || !nodeClient || !frontProxy) throw new TypeError("four leaves are always planned");
  return { serving, admin, nodeClient, frontProxy, node, proxy };
}

function leafPlans({ hosts, nodeName }: WantedLeaves): readonly LeafPlan[] {
  const isAddress = (host: string) => isIP(host) !== 0;
  const serving: LeafPlan = {
    file: "apiserver",
    commonName: "kube-apiserver",
    usages: ["server"],
    dnsNames: [...new Set([...SERVING_NAMES, ...hosts.filter((host) => !isAddress(host))])],
    ipAddresses: [...new Set([SERVICE_IP, ...LOOPBACK, ...hosts.filter(isAddress).map(compressAddress)])],
  };
  return [
    serving,
    { file: "admin", commonName: "kubernetes-admin", organizations: ["system:masters"], usages: ["client"] },
    { file: "apiserver-kubelet-client", commonName: KUBELET_CLIENT_USER, usages: ["client"] },
    { file: "front-proxy-client", commonName: FRONT_PROXY_USER, usages: ["client"], isFrontProxy: true },
    ...(nodeName === undefined ? [] : [nodePlan(nodeName), PROXY_PLAN]),
  ];
}

/** The role `system:node-proxier` is bound to this user. */
const PROXY_PLAN: LeafPlan = { file: "proxy", commonName: PROXY_USER, usages: ["client"] };

function nodePlan(name: string): LeafPlan {
  return { file: "node", commonName: `system:node:${name}`, organizations: ["system:nodes"], usages: ["client"] };
}

/** What leaves are judged by and made with. */
interface LeafContext {
  readonly authority: KeyedCertificate;
  readonly frontAuthority: KeyedCertificate;
  readonly now: number;
}

function authorityOf({ isFrontProxy }: LeafPlan, { authority, frontAuthority }: LeafContext): KeyedCertificate {
  return isFrontProxy ? frontAuthority : authority;
}

async function ensureLeaf(folder: CertificateFolder, plan: LeafPlan, context: LeafContext): Promise<KeyedCertificate> {
  const [certificatePem, keyPem] = await Promise.all([
    folder.read(`${plan.file}.crt`),
    folder.read(`${plan.file}.key`),
  ]);
  if (certificatePem !== undefined && keyPem !== undefined) {
    return await keepLeaf(folder, plan, { leaf: { certificatePem, keyPem }, context });
  }
  if (certificatePem !== undefined || keyPem !== undefined) {
    folder.note(`${plan.file}.crt or its key was missing: made a new one`);
  }
  return await makeLeaf(folder, plan, context);
}

async function keepLeaf(
  folder: CertificateFolder,
  plan: LeafPlan,
  { leaf, context }: { readonly leaf: KeyedCertificate; readonly context: LeafContext },
): Promise<KeyedCertificate> {
  const problem = leafProblem(leaf, plan, context);
  if (problem === undefined) return leaf;
  folder.note(`${plan.file}.crt ${problem}: made a new one`);
  return await makeLeaf(folder, plan, context);
}

async function makeLeaf(folder: CertificateFolder, plan: LeafPlan, context: LeafContext): Promise<KeyedCertificate> {
  const authority = authorityOf(plan, context);
  const notBefore = context.now - BACKDATE_MS;
  const leaf = await issueCertificate({ ...plan, authority, notBefore, notAfter: notBefore + LEAF_DAYS * DAY_MS });
  await writePair(folder, plan.file, leaf);
  return leaf;
}

/** Why the leaf cannot stay; undefined when it can. */
function leafProblem(leaf: KeyedCertificate, plan: LeafPlan, context: LeafContext): string | undefined {
  const { now } = context;
  const authority = authorityOf(plan, context);
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

/** The public half is for other programs; it follows from the private one and is written whenever it differs. */
async function ensureTokenKey(folder: CertificateFolder): Promise<TokenKey> {
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
