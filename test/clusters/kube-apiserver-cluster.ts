import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runAll } from "../../src/base/errors.ts";
import { issueKubeconfig } from "../../src/cluster/control-plane/issue-kubeconfig.ts";
import { formatKubeconfig } from "../../src/pki/kubeconfig.ts";
import { type AdminApi, connectAdminApi } from "../../src/testing/admin-api.ts";
import { applyManifests } from "../../src/testing/apply-manifests.ts";
import { readManifests } from "../../src/testing/read-manifests.ts";
import { type StartedKubeApiserver, startKubeApiserver } from "../contract/api/kube-apiserver.ts";
import { type ServerProcess, startServerProcess } from "../contract/api/server-processes.ts";
import { claimPort } from "../machine/claims.ts";
import type { RestartableCluster, ServedCluster } from "./node-cluster.ts";

const DAY_MS = 86_400_000;
const PRIVATE = { mode: 0o600 };

interface KubePrograms {
  /** The directory of kube-apiserver and etcd. */
  readonly assets: string;
  /** kube-controller-manager; undefined where there is none. */
  readonly controllersProgram: string | undefined;
  /** More of kube-apiserver's flags. */
  readonly flags: readonly string[];
}

/**
 * kube-apiserver with what every cluster has, so that pods are taken: made by kube-controller-manager where there is one,
 * and else by hand.
 */
export async function startKubeApiserverCluster(programs: KubePrograms): Promise<RestartableCluster & ServedCluster> {
  const server = await startKubeApiserver(programs.assets, programs.flags);
  const { certificates, directory, stopServer, startServer } = server;
  const { url } = server.admin;
  const kubeconfig = administratorOf(server);
  const api = connectAdminApi(url, () => certificates);
  let controllers: ServerProcess | undefined;
  let users = 0;
  const apply = async (...manifests: Parameters<ServedCluster["apply"]>) =>
    await applyManifests(api, await readManifests(manifests));
  const stop = async () => {
    await runAll(
      [() => api.close(), async () => await controllers?.end(), async () => await server.stop()],
      "stopping the cluster of kube-apiserver",
    );
  };
  try {
    const kubeconfigPath = join(directory, "kubeconfig");
    await writeFile(kubeconfigPath, kubeconfig, PRIVATE);
    await apply(...NODE_BOOTSTRAPPING);
    if (programs.controllersProgram === undefined)
      await apply(...defaultObjects(certificates.authority.certificatePem));
    else controllers = await startControllers(programs.controllersProgram, server);
    await untilPodsAreTaken(api, controllers);
    return {
      url,
      kubeconfig,
      kubeconfigPath,
      apply,
      async addUser(name, groups = []) {
        const issued = await issueKubeconfig(certificates, { url, name, groups, lifetimeMs: DAY_MS });
        const path = join(directory, `user-${++users}`);
        await writeFile(path, issued, PRIVATE);
        return { kubeconfig: issued, kubeconfigPath: path };
      },
      stopServer,
      startServer,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function administratorOf({ admin, certificates }: StartedKubeApiserver): string {
  const names = { user: "admin", cluster: "kube-apiserver", context: "kube-apiserver" };
  return formatKubeconfig({ server: admin.url, caPem: admin.caPem, ...certificates.admin, ...names });
}

/** Upstream's controllers, all that are on by default, each with the rights of its own service account. */
async function startControllers(program: string, server: StartedKubeApiserver): Promise<ServerProcess> {
  const { certificates, directory, pki } = server;
  const { url } = server.admin;
  const port = await claimPort();
  const user = { url, name: "system:kube-controller-manager", groups: [], lifetimeMs: DAY_MS };
  const kubeconfig = join(directory, "controller-manager.conf");
  await writeFile(kubeconfig, await issueKubeconfig(certificates, user), PRIVATE);
  return startServerProcess(program, [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--use-service-account-credentials",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(directory, "made")}`,
    `--root-ca-file=${join(pki, "ca.crt")}`,
    `--cluster-signing-cert-file=${join(pki, "ca.crt")}`,
    `--cluster-signing-key-file=${join(pki, "ca.key")}`,
    `--service-account-private-key-file=${join(pki, "sa.key")}`,
  ]);
}

async function untilPodsAreTaken(api: AdminApi, controllers: ServerProcess | undefined): Promise<void> {
  for (const name of ["serviceaccounts/default", "configmaps/kube-root-ca.crt"]) {
    const path = `/api/v1/namespaces/default/${name}`;
    await api.poll(name, {
      path,
      isReached({ status }) {
        if (controllers?.hasEnded()) throw new Error(`${controllers.name} ended:\n${controllers.log()}`);
        return status === 200;
      },
    });
  }
}

/** What kubeadm adds to a cluster, so that nodes may join by a token and renew what they got. */
const NODE_BOOTSTRAPPING: readonly object[] = [
  ["kubelet-bootstrap", "system:node-bootstrapper", "system:bootstrappers"],
  [
    "node-autoapprove-bootstrap",
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    "system:bootstrappers",
  ],
  [
    "node-autoapprove-certificate-rotation",
    "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    "system:nodes",
  ],
].map(([name, role, group]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group }],
}));

/** What controllers make in every namespace, for the one that the suite's pods are in. */
function defaultObjects(authorityPem: string): object[] {
  const namespace = "default";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kube-root-ca.crt", namespace },
      data: { "ca.crt": authorityPem },
    },
  ];
}
