import { join } from "node:path";
import { CodedError, isNoSpace, messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { openJournal } from "../../journal/open-journal.ts";
import { type ClusterCertificates, ensureClusterCertificates } from "../../pki/cluster-certificates.ts";
import { PkiError } from "../../pki/pki-error.ts";
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
const MAX_KUBECONFIG_BYTES = 256 * 1024;
const NODE_LIFETIME_MS = 365 * 86_400_000;

/**
 * Runs a control plane that is durable: its objects and its certificates are files beneath a directory. Rejects when a
 * file or the port prevents it, and leaves nothing open then.
 */
export async function runControlPlane(options: DurableOptions, log: Log): Promise<RunningControlPlane> {
  const certificates = await readCertificates(options);
  for (const note of certificates.notes) log.warn(note);
  const journal = await openJournal({ directory: join(options.directory, "store"), log });
  const controlPlane = await serveControlPlane(options, { journal, certificates, log });
  try {
    await writeKubeconfigs(options, { controlPlane, certificates, log });
  } catch (error) {
    const failed = () => {
      throw error;
    };
    await runAll([failed, controlPlane.close], "starting the control plane");
  }
  return controlPlane;
}

async function readCertificates({ directory, address, serviceCidr }: DurableOptions): Promise<ClusterCertificates> {
  const pki = join(directory, "pki");
  const isWildcard = address === "0.0.0.0" || address === "::";
  try {
    return await ensureClusterCertificates(pki, {
      files: linuxFiles,
      now: Date.now(),
      hosts: [...(isWildcard ? [] : [address]), firstAddressOf(serviceCidr)],
    });
  } catch (error) {
    if (error instanceof PkiError) throw error;
    const message = `${pki} cannot be used for certificates: ${messageOf(error)}`;
    throw new CodedError("certificates-unusable", message, { cause: error });
  }
}

interface Credentials {
  readonly controlPlane: RunningControlPlane;
  readonly certificates: ClusterCertificates;
  readonly log: Log;
}

async function writeKubeconfigs(
  { kubeconfig, node }: DurableOptions,
  { controlPlane, certificates, log }: Credentials,
): Promise<void> {
  await writeKubeconfig(kubeconfig, controlPlane.kubeconfig);
  if (node === undefined) return;
  const user = { name: `system:node:${node.name}`, groups: ["system:nodes"], lifetimeMs: NODE_LIFETIME_MS };
  try {
    await writeKubeconfig(node.kubeconfig, await issueKubeconfig(certificates, { url: controlPlane.url, ...user }));
  } catch (error) {
    // The node goes on with the one that it has, so that pods can be deleted although the disk is full.
    if (!isNoSpace(error) || (await readText(node.kubeconfig)) === undefined) throw error;
    log.warn("The node's kubeconfig could not be renewed, because the disk is full", { path: node.kubeconfig });
  }
}

/** A file that says the same already is not written, because on a full disk it could not be. */
async function writeKubeconfig(path: string, text: string): Promise<void> {
  if ((await readText(path)) === text) return;
  try {
    await linuxFiles.writeAtomically(path, text, PRIVATE_FILE);
  } catch (error) {
    throw new CodedError("kubeconfig-unwritable", `cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

async function readText(path: string): Promise<string | undefined> {
  return await linuxFiles.read(path, MAX_KUBECONFIG_BYTES).then(String, () => undefined);
}
