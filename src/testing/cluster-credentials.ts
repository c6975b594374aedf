import {
  type CertificateFiles,
  type ClusterCertificates,
  ensureClusterCertificates,
} from "../pki/cluster-certificates.ts";
import { issueCertificate } from "../pki/issue-certificate.ts";
import { formatKubeconfig } from "../pki/kubeconfig.ts";

const DAY_MS = 86_400_000;
/** A client whose clock is a little behind accepts a fresh certificate. */
const BACKDATE_MS = 300_000;

/** Certificates that live as long as the cluster does: they are never written anywhere. */
export function createCertificates(): Promise<ClusterCertificates> {
  return ensureClusterCertificates("pki", { files: createMemoryFiles(), now: Date.now(), hosts: [] });
}

interface UserFacts {
  readonly url: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/** A kubeconfig of somebody whom a certificate of the cluster's own authority names. */
export async function issueKubeconfig(
  { authority }: ClusterCertificates,
  { url, name, groups }: UserFacts,
): Promise<string> {
  if (name === "") throw new TypeError("a user needs a name");
  const now = Date.now();
  const certificate = await issueCertificate({
    commonName: name,
    organizations: groups,
    usages: ["client"],
    authority,
    notBefore: now - BACKDATE_MS,
    notAfter: now + DAY_MS,
  });
  const names = { user: name, cluster: "nodelet", context: "nodelet" };
  return formatKubeconfig({ server: url, caPem: authority.certificatePem, ...certificate, ...names });
}

function createMemoryFiles(): CertificateFiles {
  const files = new Map<string, Buffer>();
  return {
    async read(path) {
      const found = files.get(path);
      if (found === undefined) throw Object.assign(new Error(`${path} does not exist`), { code: "ENOENT" });
      return found;
    },
    async writeAtomically(path, data) {
      files.set(path, Buffer.from(data));
    },
    async makeDirectory() {},
  };
}
