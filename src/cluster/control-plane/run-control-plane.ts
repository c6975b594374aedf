import { join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { openJournal } from "../../journal/open-journal.ts";
import { ensureClusterCertificates } from "../../pki/cluster-certificates.ts";
import { issueKubeconfig } from "./issue-kubeconfig.ts";
import {
  firstAddressOf,
  type RunningControlPlane,
  type ServedControlPlaneOptions,
  serveControlPlane,
} from "./serve-control-plane.ts";

export interface DurableOptions extends ServedControlPlaneOptions {
  /** The directory of the store and the certificates. */
  readonly directory: string;
  /** The path of the administrator's kubeconfig, which only its owner can read. */
  readonly kubeconfig: string;
  /** A node that may join, and the path of its kubeconfig, which is renewed at every start. */
  readonly node?: { readonly name: string; readonly kubeconfig: string } | undefined;
}

const PRIVATE_FILE = 0o600;
const NODE_LIFETIME_MS = 365 * 86_400_000;

/** Runs a control plane that is durable: its objects and its certificates are files beneath a directory. */
export async function runControlPlane(options: DurableOptions, log: Log): Promise<RunningControlPlane> {
  const { directory, address } = options;
  const certificates = await ensureClusterCertificates(join(directory, "pki"), {
    files: linuxFiles,
    now: Date.now(),
    hosts: [...(isWildcard(address) ? [] : [address]), firstAddressOf(options.serviceCidr)],
  });
  for (const note of certificates.notes) log.warn(note);
  const journal = await openJournal({ directory: join(directory, "store"), log });
  const controlPlane = await serveControlPlane(options, { journal, certificates, log });
  const write = async (path: string, text: string) => {
    try {
      await linuxFiles.writeAtomically(path, text, PRIVATE_FILE);
    } catch (error) {
      await controlPlane.close();
      throw new CodedError("kubeconfig-unwritable", `cannot write ${path}`, { cause: error });
    }
  };
  await write(options.kubeconfig, controlPlane.kubeconfig);
  const { node } = options;
  if (node !== undefined) {
    const user = { name: `system:node:${node.name}`, groups: ["system:nodes"], lifetimeMs: NODE_LIFETIME_MS };
    await write(node.kubeconfig, await issueKubeconfig(certificates, { url: controlPlane.url, ...user }));
  }
  return controlPlane;
}

const isWildcard = (address: string) => address === "0.0.0.0" || address === "::";
