import { NODES } from "../api/kube-resource.ts";
import { nodeUserOf, PROXY_USER } from "../api/user-names.ts";
import { throwIfAborted } from "../base/abort.ts";
import { CodedError, runAll, throwJoined } from "../base/errors.ts";
import { readVersion } from "../cli/version.ts";
import { issueDnsCertificate } from "../cluster/control-plane/dns-certificate.ts";
import { issueKubeconfig } from "../cluster/control-plane/issue-kubeconfig.ts";
import { createLocalDirectories } from "../cluster/control-plane/local-directories.ts";
import { computeNodeCredentials } from "../cluster/control-plane/node-credentials.ts";
import {
  firstAddressOf,
  type RunningControlPlane,
  serveControlPlane,
} from "../cluster/control-plane/serve-control-plane.ts";
import { computeStateLayout } from "../cluster/supervisor/state-layout.ts";
import { CLUSTER_DNS_USER } from "../control-plane/bootstrap/cluster-dns-objects.ts";
import { linuxFiles } from "../host/linux/files/linux-files.ts";
import { systemClock } from "../host/linux/system/system-clock.ts";
import { createMemoryJournal } from "../journal/memory-journal.ts";
import type { CertificateRenewals } from "../pki/certificate-renewals.ts";
import type { ClusterCertificates } from "../pki/cluster-certificates.ts";
import { type AdminApi, type ApiAnswer, connectAdminApi } from "./admin-api.ts";
import { applyManifests, installDefinitions } from "./apply-manifests.ts";
import { callbackLog } from "./callback-log.ts";
import { createRenewedCertificates } from "./cluster-credentials.ts";
import { type ClusterDirectory, createClusterDirectory } from "./cluster-directory.ts";
import { LOCAL_NODE } from "./local-node.ts";
import { readManifests } from "./read-manifests.ts";
import type { TestNodeNetwork } from "./start-node.ts";

const DAY_MS = 86_400_000;

/**
 * Kubernetes objects, in one of these forms: an object or a list of them, as the API has it; the path or `file:` URL of
 * a YAML or JSON file, or of a directory of such files; or the text of such a file, which has line breaks or begins with
 * a brace.
 */
type ManifestSource = string | URL | object;

/** What a test may ask of its cluster. Every option has a default that suits tests that run in parallel. */
export interface StartClusterOptions {
  /** The port of the API server, on loopback. Default: a free port. */
  port?: number;
  /**
   * The definitions of custom resources, installed and established before the cluster is returned. Other objects in the
   * files (a role, a deployment) are ignored, so that the directory of an operator's manifests can be given.
   */
  crds?: ManifestSource | readonly ManifestSource[];
  /**
   * A real node, which runs pods: a containerd of its own and a node agent, as children of this process, with the
   * cluster's DNS and a default storage class, as `nodelet up` has them. `true` needs
   * root, containerd, runc and CNI plugins, and rejects with `node-impossible` where one is missing. `"if-possible"`
   * continues without a node in that case, and `cluster.node` says why. Default false: pods are stored and none runs.
   */
  node?: boolean | "if-possible";
  /** Archives of images (`docker save`, OCI) that the node's pods may use, besides what it can pull. */
  images?: readonly string[];
  /**
   * This function gets everything that the control plane logs, for diagnosis: `log: console.error` shows it all.
   * Default: the records are dropped.
   */
  log?: (
    level: "error" | "warn" | "info" | "debug",
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ) => void;
  /** An abort while the cluster starts gives up the start, and leaves nothing behind. Later it has no effect. */
  signal?: AbortSignal;
}

/**
 * What the functions of this module reject with, for `error instanceof ClusterError`: a message that names the thing and
 * the mend, and a code. The codes are
 * `option-invalid`, `listen-failed` (the port is taken), `manifest-unreadable`, `manifest-refused`, `not-established` (a
 * definition's names clash with another's), `start-timed-out`, `node-impossible`, `image-unreadable`, `stopped`, and those
 * of a node that does not start.
 */
export const ClusterError: abstract new (code: string, message: string) => Error & { readonly code: string } =
  CodedError;

/** How a client reaches the cluster. */
export interface ClusterAccess {
  /** The URL of the API, such as `https://127.0.0.1:43210`. */
  readonly url: string;
  /** The text of a kubeconfig, for `KubeConfig.loadFromString` of `@kubernetes/client-node`. */
  readonly kubeconfig: string;
  /**
   * The path of a file with the same text, for `kubectl --kubeconfig` and `KUBECONFIG`. The file is gone after `stop`.
   */
  readonly kubeconfigPath: string;
}

/** A Kubernetes API for one test. Its kubeconfig is an administrator's. */
export interface TestCluster extends ClusterAccess {
  /** Tells whether pods run, and on which node, or why they do not. */
  readonly node:
    | { readonly running: true; readonly name: string }
    | { readonly running: false; readonly reason: string };
  /**
   * Creates or changes the objects of the manifests, in their order, as `kubectl apply --server-side --force-conflicts`
   * does. Definitions of custom resources come first and are established before the rest. A namespaced object that
   * names no namespace goes to `default`. Returns the objects as the server has them afterwards, in the order of the
   * manifests. Rejects with the server's message about the first object that it refuses.
   */
  apply(...manifests: ManifestSource[]): Promise<AppliedObject[]>;
  /**
   * Gives access to another user, through a client certificate of this name and these groups. Roles decide what the
   * user may do: without any role it is next to nothing, and for a member of `system:masters` it is everything.
   */
  addUser(name: string, groups?: readonly string[]): Promise<ClusterAccess>;
  /**
   * Ends the cluster with all connections to it, and removes everything that it left. Idempotent; `await using` calls
   * this too. Rejects when the control plane has ended by a bug.
   */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An object as the server has it. `metadata` is complete, with `uid` and `resourceVersion`. */
export interface AppliedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

const PRIVATE_FILE = 0o600;
const ADDRESS = "127.0.0.1";
const SERVICE_CIDR = "10.96.0.0/16";
const NO_NODE = "no node was asked for: objects are stored, admitted and watched, and no pod runs";

/**
 * Starts an API server in this process that has only the objects that every cluster begins with, ready to take pods,
 * and with `node` a node that runs them. Without a node it needs no root rights, and writes only kubeconfigs, to a
 * directory of its own. Any number of clusters can run at the same time.
 *
 * Rejects with a `ClusterError`, or with what `signal` was aborted for. In every case nothing is left behind.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<TestCluster> {
  refuseUnknownOptions(options);
  const { crds = [], signal } = options;
  const teardown: Array<() => Promise<void>> = [];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= runAll(teardown.toReversed(), "stopping the cluster");
    return stopped;
  };
  try {
    throwIfAborted(signal);
    const definitions = await readManifests([crds].flat());
    const directory = await createClusterDirectory();
    teardown.push(() => directory.remove());
    const nodePlan = await planNode(options, directory);
    const renewed = await createRenewedCertificates(
      { clock: systemClock, log: callbackLog(options.log) },
      nodePlan.isPossible
        ? {
            nodeName: LOCAL_NODE.name,
            hosts: [nodePlan.network.apiAddress, firstAddressOf(nodePlan.network.serviceCidr)],
          }
        : { hosts: [] },
    );
    const { certificates, renewals } = renewed;
    const controlPlane = await serve(renewed, options, { nodePlan, directory });
    teardown.push(() => controlPlane.close());
    await Promise.race([controlPlane.ready, controlPlane.ended]);
    const api = connectAdminApi(controlPlane.url, renewals.current);
    teardown.push(async () => api.close());
    await untilPodsAreTaken(api, signal);
    await installDefinitions(api, definitions, signal);
    throwIfAborted(signal);
    const access = await describeAccess(controlPlane, directory);
    renewals.subscribe(async () => {
      await describeAccess(controlPlane, directory);
    });
    const node = await ensureNode({ api, renewals, directory, url: access.url, teardown, nodePlan }, options);
    return describe({ access, node, api, certificates, directory, stop, isStopped: () => stopped !== undefined });
  } catch (error) {
    const failures = new Set([error]);
    await stop().catch((failure: unknown) => failures.add(failure));
    throwJoined([...failures], "starting the cluster");
    throw error;
  }
}

const OPTIONS: Readonly<Record<keyof StartClusterOptions, true>> = {
  ...{ port: true, crds: true, node: true, images: true, log: true, signal: true },
};

/** A misspelt option would otherwise change what a test proves without a word. */
function refuseUnknownOptions(options: object): void {
  const unknown = Object.keys(options).find((name) => !(name in OPTIONS));
  if (unknown === undefined) return;
  const known = Object.keys(OPTIONS).join(", ");
  throw new CodedError("option-invalid", `startCluster has no option ${unknown}; it has ${known}`);
}

async function serve(
  renewed: { certificates: ClusterCertificates; renewals: CertificateRenewals },
  { port = 0, log }: StartClusterOptions,
  { nodePlan, directory }: Pick<NodeDeps, "nodePlan" | "directory">,
) {
  const common = { address: ADDRESS, port, version: await readVersion(), localNode: LOCAL_NODE };
  const parts = { ...renewed, journal: createMemoryJournal(), log: callbackLog(log) };
  if (!nodePlan.isPossible) return await serveControlPlane({ ...common, serviceCidr: SERVICE_CIDR }, parts);
  const { serviceCidr, apiAddress, dnsAddress } = nodePlan.network;
  const { localVolumes: root } = computeStateLayout(directory.path);
  return await serveControlPlane(
    {
      ...{ ...common, serviceCidr, podAddress: apiAddress, networkPolicies: true },
      clusterDns: { serviceAddress: dnsAddress, serverAddress: apiAddress },
    },
    { ...parts, localDirectories: createLocalDirectories({ root, nodeName: LOCAL_NODE.name }) },
  );
}

/**
 * Waits until pods are accepted. They are refused until a controller has made their service account, which a test
 * should not have to know.
 */
async function untilPodsAreTaken(api: AdminApi, signal: AbortSignal | undefined): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  await api.poll("the default service account", { path, signal, isReached: ({ status }) => status === 200 });
}

async function describeAccess(controlPlane: RunningControlPlane, directory: ClusterDirectory): Promise<ClusterAccess> {
  const { url, kubeconfig } = controlPlane;
  return { url, kubeconfig, kubeconfigPath: await directory.write("kubeconfig", kubeconfig) };
}

interface NodeDeps {
  api: AdminApi;
  renewals: CertificateRenewals;
  directory: ClusterDirectory;
  url: string;
  teardown: Array<() => Promise<void>>;
  nodePlan: NodePlan;
}

/** The network of a node that was asked for and can run, or why there is none. */
type NodePlan =
  | { readonly isPossible: true; readonly network: TestNodeNetwork }
  | { readonly isPossible: false; readonly reason: string };

/** Rejects with `node-impossible` where a node must be there and cannot. */
async function planNode({ node = false }: StartClusterOptions, directory: ClusterDirectory): Promise<NodePlan> {
  if (node === false) return { isPossible: false, reason: NO_NODE };
  const { chooseNetwork, findNodeObstacle } = await import("./start-node.ts");
  const obstacle = await findNodeObstacle(directory.path);
  if (obstacle === undefined) return { isPossible: true, network: chooseNetwork() };
  if (node === "if-possible") return { isPossible: false, reason: obstacle };
  throw new CodedError("node-impossible", `no node can run on this machine: ${obstacle}`);
}

/** Returns the node, known to the API and ready, or the reason why there is none. */
async function ensureNode(deps: NodeDeps, options: StartClusterOptions): Promise<TestCluster["node"]> {
  const { images = [], log, signal = new AbortController().signal } = options;
  const { api, renewals, directory, url, nodePlan } = deps;
  if (!nodePlan.isPossible) return { running: false, reason: nodePlan.reason };
  const { startNode } = await import("./start-node.ts");
  const node = await startNode({
    directory: directory.path,
    network: nodePlan.network,
    keepDirectory: directory.keep,
    authorityPem: renewals.current().trustedPem,
    writePrivately,
    async writeCredentials(paths) {
      const write = async () => {
        const current = renewals.current();
        const dnsPair = await issueDnsCertificate(current);
        const files = [
          ...computeNodeCredentials(paths.node, { url, user: nodeUserOf(LOCAL_NODE.name), pair: current.node }),
          ...computeNodeCredentials(paths.proxy, { url, user: PROXY_USER, pair: current.proxy }),
          ...computeNodeCredentials(paths.dns, { url, user: CLUSTER_DNS_USER, pair: dnsPair }),
        ];
        for (const { path, text } of files) await writePrivately(path, text);
      };
      renewals.subscribe(write);
      await write();
    },
    images,
    log: callbackLog(log),
    signal,
  });
  deps.teardown.push(async () => await node.stop());
  await api.poll("a ready node", { path: `/api/v1/nodes/${node.name}`, signal, isReached: isNodeReady });
  return { running: true, name: node.name };
}

const writePrivately = async (path: string, text: string) => {
  await linuxFiles.writeAtomically(path, text, PRIVATE_FILE);
};

function isNodeReady({ status, body }: ApiAnswer): boolean {
  if (status !== 200) return false;
  const { spec, status: node } = NODES.read(body);
  const isReady = node?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return isReady === true && (spec?.taints ?? []).length === 0;
}

interface Running {
  access: ClusterAccess;
  node: TestCluster["node"];
  api: AdminApi;
  certificates: ClusterCertificates;
  directory: ClusterDirectory;
  stop(): Promise<void>;
  isStopped(): boolean;
}

function describe({ access, node, api, certificates, directory, stop, isStopped }: Running): TestCluster {
  const refuseStopped = () => {
    if (isStopped()) throw new CodedError("stopped", "the cluster was stopped");
  };
  let users = 0;
  return {
    ...access,
    node,
    async apply(...manifests) {
      const objects = await readManifests(manifests);
      refuseStopped();
      return await applyManifests(api, objects);
    },
    async addUser(name, groups = []) {
      const kubeconfig = await issueKubeconfig(certificates, {
        url: access.url,
        name,
        groups,
        lifetimeMs: DAY_MS,
      });
      refuseStopped();
      users += 1;
      return { url: access.url, kubeconfig, kubeconfigPath: await directory.write(`user-${users}`, kubeconfig) };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
