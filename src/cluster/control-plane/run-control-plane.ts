import { join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { nodeFiles } from "../../host/node/node-files.ts";
import { openJournal } from "../../journal/open-journal.ts";
import { ensureClusterCertificates } from "../../pki/cluster-certificates.ts";
import { type ControlPlaneOptions, type RunningControlPlane, serveControlPlane } from "./serve-control-plane.ts";

export interface DurableOptions extends ControlPlaneOptions {
  /** Where the store and the certificates are kept. */
  readonly directory: string;
  /** Where the administrator's kubeconfig goes, readable by its owner only. */
  readonly kubeconfig: string;
}

const PRIVATE_FILE = 0o600;

/** A control plane that remembers: its objects and its certificates are files beneath a directory. */
export async function runControlPlane(options: DurableOptions, log: Log): Promise<RunningControlPlane> {
  const { directory, address } = options;
  const certificates = await ensureClusterCertificates(join(directory, "pki"), {
    files: nodeFiles,
    now: Date.now(),
    hosts: isWildcard(address) ? [] : [address],
  });
  for (const note of certificates.notes) log.warn(note);
  const journal = await openJournal({ directory: join(directory, "store"), log });
  const controlPlane = await serveControlPlane(options, { journal, certificates, log });
  try {
    await nodeFiles.writeAtomically(options.kubeconfig, controlPlane.kubeconfig, PRIVATE_FILE);
  } catch (error) {
    await controlPlane.close();
    throw new CodedError("kubeconfig-unwritable", `cannot write ${options.kubeconfig}`, { cause: error });
  }
  return controlPlane;
}

const isWildcard = (address: string) => address === "0.0.0.0" || address === "::";
