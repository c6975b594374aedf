import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { CertificateFiles } from "../pki/certificate-folder.ts";
import { type CertificateRenewals, createCertificateRenewals } from "../pki/certificate-renewals.ts";
import { type ClusterCertificates, ensureClusterCertificates, type WantedLeaves } from "../pki/cluster-certificates.ts";

const DIRECTORY = "pki";

/** Creates certificates that live as long as the cluster does. They are never written to disk. */
export function createCertificates(): Promise<ClusterCertificates> {
  return ensureClusterCertificates(DIRECTORY, { files: createMemoryFiles(), now: Date.now(), hosts: [] });
}

/** As `createCertificates`, for a cluster that renews them; with those of the node of that name. */
export async function createRenewedCertificates(
  deps: { readonly clock: Clock; readonly log: Log },
  wanted: WantedLeaves = { hosts: [] },
): Promise<{ readonly certificates: ClusterCertificates; readonly renewals: CertificateRenewals }> {
  const files = createMemoryFiles();
  const certificates = await ensureClusterCertificates(DIRECTORY, { files, now: deps.clock.now(), ...wanted });
  const plan = { directory: DIRECTORY, first: certificates, ...wanted };
  return { certificates, renewals: createCertificateRenewals({ ...deps, files }, plan) };
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
