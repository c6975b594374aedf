import { runCommand } from "../../src/cluster/processes/run-command.ts";
import { startCluster } from "../../src/testing/start-cluster.ts";
import { findProgram, requireProgram } from "../contract/api/server-processes.ts";
import { startKubeApiserverCluster } from "./kube-apiserver-cluster.ts";
import type { RestartableCluster, ServedCluster } from "./node-cluster.ts";
import { startRestartableCluster } from "./restartable-cluster.ts";

/** What of a cluster only some cases need. */
export interface ClusterServerOptions {
  /** kube-apiserver serves cluster trust bundles when it is told to, from 1.33 on. */
  readonly servesTrustBundles?: boolean;
}

/** A control plane that nodes join in the suite. */
export interface ClusterServer {
  readonly name: string;
  /** True for nodelet's. */
  readonly isOurs: boolean;
  /** The minor part of the API's version: 36 for 1.36. */
  readonly minor: number;
  /** Whether there are controllers that sign certificates, look after nodes and collect garbage. */
  readonly hasControllers: boolean;
  start(options?: ClusterServerOptions): Promise<ServedCluster>;
  /** One whose server can go and come back. */
  startRestartable(): Promise<RestartableCluster>;
}

/** Nodelet's control plane, in the test's own process. */
export const OUR_SERVER: ClusterServer = {
  name: "nodelet",
  isOurs: true,
  minor: 35,
  hasControllers: true,
  start: async () => await startCluster(),
  startRestartable: startRestartableCluster,
};

/**
 * Nodelet's control plane, always; kube-apiserver with etcd where KUBEBUILDER_ASSETS names their directory, and with the
 * controllers of kube-controller-manager where that is there too.
 */
export async function clusterServersUnderTest(): Promise<ClusterServer[]> {
  const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";
  if (assets === "") {
    console.warn("SKIPPED: a real kube-apiserver; name the directory of it and etcd in KUBEBUILDER_ASSETS");
    return [OUR_SERVER];
  }
  return [OUR_SERVER, await findKubeApiserver(assets)];
}

async function findKubeApiserver(assets: string): Promise<ClusterServer> {
  const minor = await readMinor(await requireProgram(assets, "kube-apiserver"));
  const controllersProgram = await findProgram(assets, "kube-controller-manager");
  const start = async ({ servesTrustBundles = false }: ClusterServerOptions = {}) =>
    await startKubeApiserverCluster({
      assets,
      controllersProgram,
      flags: servesTrustBundles ? TRUST_BUNDLE_FLAGS : [],
    });
  return {
    name: `kube-apiserver 1.${minor}`,
    isOurs: false,
    minor,
    hasControllers: controllersProgram !== undefined,
    start,
    startRestartable: start,
  };
}

const TRUST_BUNDLE_FLAGS = [
  "--feature-gates=ClusterTrustBundle=true,ClusterTrustBundleProjection=true",
  "--runtime-config=certificates.k8s.io/v1beta1/clustertrustbundles=true",
];

async function readMinor(program: string): Promise<number> {
  const printed = await runCommand(program, ["--version"]);
  const minor = /^Kubernetes v1\.(\d+)\./.exec(printed)?.[1];
  if (minor === undefined) throw new Error(`${program} does not tell its version: ${printed}`);
  return Number(minor);
}
