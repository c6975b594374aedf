import { throwIfAborted } from "../base/abort.ts";
import { CodedError, runAll, throwJoined } from "../base/errors.ts";
import { readVersion } from "../cli/version.ts";
import { issueKubeconfig } from "../cluster/control-plane/issue-kubeconfig.ts";
import { type RunningControlPlane, serveControlPlane } from "../cluster/control-plane/serve-control-plane.ts";
import { createMemoryJournal } from "../journal/memory-journal.ts";
import type { ClusterCertificates } from "../pki/cluster-certificates.ts";
import { type AdminApi, connectAdminApi } from "./admin-api.ts";
import { applyManifests, installDefinitions } from "./apply-manifests.ts";
import { callbackLog } from "./callback-log.ts";
import { createCertificates } from "./cluster-credentials.ts";
import { type ClusterDirectory, createClusterDirectory } from "./cluster-directory.ts";
import { readManifests } from "./read-manifests.ts";

const DAY_MS = 86_400_000;

/**
 * Kubernetes objects, in one of these forms: an object, or a list of them, as the API has it; the path of a YAML or JSON
 * file, or of a directory of such files; their text, which is told from a path by its line breaks.
 */
export type ManifestSource = string | URL | object;

/** What a test may ask of its cluster. Everything has a default that is good for tests that run in parallel. */
export interface StartClusterOptions {
  /** Where the API server listens, on loopback. Default: a free port. */
  port?: number;
  /**
   * The definitions of custom resources, installed and established before the cluster is returned. What else a file has
   * (a role, a deployment) is left alone, so that the directory of an operator's manifests will do.
   */
  crds?: readonly ManifestSource[];
  /** Is told what the control plane logs, for diagnosis: `log: console.error` shows it all. Default: nobody is. */
  log?: (
    level: "error" | "warn" | "info" | "debug",
    message: string,
    fields: Readonly<Record<string, unknown>>,
  ) => void;
  /** Aborting it while the cluster starts gives up the start; nothing is left then. Later it has no effect. */
  signal?: AbortSignal;
}

/** How somebody reaches the cluster. */
export interface ClusterAccess {
  /** `https://127.0.0.1:43210`. */
  readonly url: string;
  /** A kubeconfig's text: for `KubeConfig.loadFromString` of `@kubernetes/client-node`. */
  readonly kubeconfig: string;
  /** The same as a file, for `kubectl --kubeconfig` and `KUBECONFIG`; gone after `stop`. */
  readonly kubeconfigPath: string;
}

/** A Kubernetes API of a test's own; its kubeconfig is an administrator's. */
export interface TestCluster extends ClusterAccess {
  /** Whether pods run. `reason` says why not. */
  readonly node: { readonly running: boolean; readonly reason: string };
  /**
   * Creates or changes what the manifests say, in their order, as `kubectl apply --server-side --force-conflicts` does.
   * Definitions of custom resources come first and are established before the rest. A namespaced object that names no
   * namespace goes to `default`. Rejects with what the server says about the first object that it refuses.
   */
  apply(...manifests: ManifestSource[]): Promise<void>;
  /**
   * Access for somebody else, by a client certificate of this name and these groups. Roles decide what they may do: one
   * who has none may do next to nothing, and a member of `system:masters` everything.
   */
  addUser(name: string, groups?: readonly string[]): Promise<ClusterAccess>;
  /**
   * Ends the cluster, with all connections to it, and removes all that it left. Idempotent; also what `await using`
   * calls. Rejects when the control plane had ended by a bug.
   */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const ADDRESS = "127.0.0.1";
const SERVICE_CIDR = "10.96.0.0/16";
const NO_NODE =
  "the node agent does not join API servers yet: objects are stored, admitted and watched, and no pod runs";

/**
 * Starts an API server in this process with nothing in it but what every cluster begins with, ready to take pods. Needs
 * no root, and writes no more than kubeconfigs, to a directory of its own. Any number of them run side by side.
 *
 * Rejects with an error whose `code` is `listen-failed` (the port is taken), `manifest-unreadable`, `manifest-refused` or
 * `not-established` (a definition's names clash with another's); whatever it is, nothing is left behind.
 */
export async function startCluster(options: StartClusterOptions = {}): Promise<TestCluster> {
  const { crds = [], signal } = options;
  const teardown: Array<() => Promise<void>> = [];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= runAll(teardown.toReversed(), "stopping the cluster");
    return stopped;
  };
  try {
    throwIfAborted(signal);
    const definitions = await readManifests(crds);
    const directory = await createClusterDirectory();
    teardown.push(() => directory.remove());
    const certificates = await createCertificates();
    const controlPlane = await serve(certificates, options);
    teardown.push(() => controlPlane.close());
    await Promise.race([controlPlane.ready, controlPlane.ended]);
    const api = connectAdminApi(controlPlane.url, certificates);
    teardown.push(async () => api.close());
    await untilPodsAreTaken(api, signal);
    await installDefinitions(api, definitions, signal);
    throwIfAborted(signal);
    const access = await describeAccess(controlPlane, directory);
    return describe({ access, api, certificates, directory, stop, isStopped: () => stopped !== undefined });
  } catch (error) {
    const failures = new Set([error]);
    await stop().catch((failure: unknown) => failures.add(failure));
    throwJoined([...failures], "starting the cluster");
    throw error;
  }
}

async function serve(certificates: ClusterCertificates, { port = 0, log }: StartClusterOptions) {
  return serveControlPlane(
    { address: ADDRESS, port, serviceCidr: SERVICE_CIDR, version: await readVersion() },
    { journal: createMemoryJournal(), certificates, log: callbackLog(log) },
  );
}

/** Pods are refused until a controller has made their service account: a test need not know, and wait for it. */
async function untilPodsAreTaken(api: AdminApi, signal: AbortSignal | undefined): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  await api.poll("the default service account", { path, signal, isReached: ({ status }) => status === 200 });
}

async function describeAccess(controlPlane: RunningControlPlane, directory: ClusterDirectory): Promise<ClusterAccess> {
  const { url, kubeconfig } = controlPlane;
  return { url, kubeconfig, kubeconfigPath: await directory.write("kubeconfig", kubeconfig) };
}

interface Running {
  access: ClusterAccess;
  api: AdminApi;
  certificates: ClusterCertificates;
  directory: ClusterDirectory;
  stop(): Promise<void>;
  isStopped(): boolean;
}

function describe({ access, api, certificates, directory, stop, isStopped }: Running): TestCluster {
  const refuseStopped = () => {
    if (isStopped()) throw new CodedError("stopped", "the cluster was stopped");
  };
  let users = 0;
  return {
    ...access,
    node: { running: false, reason: NO_NODE },
    async apply(...manifests) {
      const objects = await readManifests(manifests);
      refuseStopped();
      await applyManifests(api, objects);
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
