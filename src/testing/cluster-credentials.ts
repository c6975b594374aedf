import type { CertificateFiles } from "../pki/certificate-folder.ts";
import { type ClusterCertificates, ensureClusterCertificates } from "../pki/cluster-certificates.ts";

/** Creates certificates that live as long as the cluster does. They are never written to disk. */
export function createCertificates(): Promise<ClusterCertificates> {
  return ensureClusterCertificates("pki", { files: createMemoryFiles(), now: Date.now(), hosts: [] });
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
