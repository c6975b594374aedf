import { join } from "node:path";
import { nodeUserOf, PROXY_USER } from "../../api/user-names.ts";
import { CodedError, isNoSpace, messageOf, runAll } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { CLUSTER_DNS_USER } from "../../control-plane/bootstrap/cluster-dns-objects.ts";
import type { ManifestsOptions } from "../../control-plane/manifests/manifests.ts";
import type { HistoryOptions } from "../../history/pod-history.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { systemClock } from "../../host/linux/system/system-clock.ts";
import { openJournal } from "../../journal/open-journal.ts";
import { createCertificateRenewals } from "../../pki/certificate-renewals.ts";
import {
  type ClusterCertificates,
  ensureClusterCertificates,
  type WantedLeaves,
} from "../../pki/cluster-certificates.ts";
import { PkiError } from "../../pki/pki-error.ts";
import { issueDnsCertificate } from "./dns-certificate.ts";
import { createLocalDirectories } from "./local-directories.ts";
import { computeNodeCredentials, type NodeCredentialPaths } from "./node-credentials.ts";
import { type AuditPlace, openAudit } from "./open-audit.ts";
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
  /** The paths of the credentials of the cluster's DNS server, which are kept up to date. Default: it gets none. */
  readonly dns?: LinkedPaths | undefined;
  /** This machine's directories for volumes of the default storage class, on its node. Default: there is no such class. */
  readonly localVolumes?: { readonly root: string; readonly nodeName: string } | undefined;
  /** How much of the decisions about pods is kept, and how long. Default: none beyond this process. */
  readonly history?: Omit<HistoryOptions, "directory"> | undefined;
  /** What is recorded of requests, and where. Default: nothing. */
  readonly audit?: AuditPlace | undefined;
  /** A directory of manifests that are applied. Default: none. */
  readonly manifests?: ManifestsOptions | undefined;
  /** A node of this machine that may join, and the paths of its credentials, which are kept up to date. */
  readonly node?: ({ readonly name: string } & LinkedPaths) | undefined;
  /** The paths of the credentials of that node's proxy of services. */
  readonly proxy?: LinkedPaths | undefined;
}

type LinkedPaths = Omit<NodeCredentialPaths, "authority">;

const PRIVATE_FILE = 0o600;
const MAX_KUBECONFIG_BYTES = 256 * 1024;

/**
 * Runs a control plane that is durable: its objects and its certificates are files beneath a directory. Rejects when a
 * file or the port prevents it, and leaves nothing open then.
 */
export async function runControlPlane(options: DurableOptions, log: Log): Promise<RunningControlPlane> {
  const certificates = await readCertificates(options);
  for (const note of certificates.notes) log.warn(note);
  const renewals = createCertificateRenewals(
    { files: linuxFiles, clock: systemClock, log },
    { directory: pkiOf(options), first: certificates, ...leavesOf(options) },
  );
  const audit = options.audit && (await openAudit(options.audit, { clock: systemClock, log }));
  const journal = await openJournal({ directory: join(options.directory, "store"), log });
  const localDirectories = options.localVolumes && createLocalDirectories(options.localVolumes);
  const controlPlane = await serveControlPlane(options, {
    ...{ journal, certificates, renewals, localDirectories, audit, log },
    manifests: options.manifests,
    history: options.history && { ...options.history, directory: join(options.directory, "history") },
  });
  try {
    const write = async () => await writeKubeconfigs(options, { controlPlane, certificates: renewals.current(), log });
    renewals.subscribe(write);
    await write();
  } catch (error) {
    const failed = () => {
      throw error;
    };
    await runAll([failed, controlPlane.close], "starting the control plane");
  }
  return controlPlane;
}

const pkiOf = ({ directory }: DurableOptions) => join(directory, "pki");

function leavesOf({ address, podAddress, serviceCidr, node }: DurableOptions): WantedLeaves {
  const isWildcard = address === "0.0.0.0" || address === "::";
  const own = [...(isWildcard ? [] : [address]), ...(podAddress === undefined ? [] : [podAddress])];
  return { hosts: [...own, firstAddressOf(serviceCidr)], nodeName: node?.name };
}

async function readCertificates(options: DurableOptions): Promise<ClusterCertificates> {
  const pki = pkiOf(options);
  try {
    return await ensureClusterCertificates(pki, { files: linuxFiles, now: Date.now(), ...leavesOf(options) });
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
  options: DurableOptions,
  { controlPlane, certificates, log }: Credentials,
): Promise<void> {
  const { node, proxy, dns } = options;
  const { url } = controlPlane;
  await writeKubeconfig(options.kubeconfig, controlPlane.kubeconfig);
  const authority = join(pkiOf(options), "ca.crt");
  const files = [];
  if (node !== undefined) {
    const user = { url, user: nodeUserOf(node.name), pair: certificates.node };
    files.push(...computeNodeCredentials({ ...node, authority }, user));
    const proxyUser = { url, user: PROXY_USER, pair: certificates.proxy };
    if (proxy !== undefined) files.push(...computeNodeCredentials({ ...proxy, authority }, proxyUser));
  }
  if (dns !== undefined) {
    const user = { url, user: CLUSTER_DNS_USER, pair: await issueDnsCertificate(certificates) };
    files.push(...computeNodeCredentials({ ...dns, authority }, user));
  }
  for (const { path, text } of files) {
    try {
      await writeKubeconfig(path, text);
    } catch (error) {
      // Whoever uses it goes on with the one that it has, so that pods can be deleted although the disk is full.
      if (!isNoSpace(error) || (await readText(path)) === undefined) throw error;
      log.warn("Credentials could not be renewed, because the disk is full", { path });
    }
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
