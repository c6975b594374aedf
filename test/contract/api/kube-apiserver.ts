import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runAll } from "../../../src/base/errors.ts";
import { linuxFiles } from "../../../src/host/linux/files/linux-files.ts";
import { type ClusterCertificates, ensureClusterCertificates } from "../../../src/pki/cluster-certificates.ts";
import { claimPort } from "../../machine/claims.ts";
import { type Credentials, createApiClient } from "./client.ts";
import { requireProgram, type ServerProcess, startServerProcess } from "./server-processes.ts";

/** What a started server is reached by. */
export interface StartedApiServer {
  /** The credentials of an administrator in `system:masters`. */
  readonly admin: Credentials;
  stop(): Promise<void>;
}

/** kube-apiserver, which can go and come back, and what others that belong to it are started with. */
export interface StartedKubeApiserver extends StartedApiServer {
  /** Removed when it is stopped. */
  readonly directory: string;
  /** Where its certificates and keys are, under kubeadm's names. */
  readonly pki: string;
  readonly certificates: ClusterCertificates;
  /** Ends kube-apiserver alone: etcd has what it had acknowledged. */
  stopServer(): Promise<void>;
  /** Starts it again, on the same port. */
  startServer(): Promise<void>;
}

const START_TIMEOUT_MS = 90_000;
const POLL_MS = 100;

/**
 * kube-apiserver and etcd of a directory, as controller-runtime's envtest starts them: on free ports, in a directory of
 * their own. `flags` are added to kube-apiserver's.
 */
export async function startKubeApiserver(assets: string, flags: readonly string[] = []): Promise<StartedKubeApiserver> {
  const [etcd, apiserver] = await Promise.all([
    requireProgram(assets, "etcd"),
    requireProgram(assets, "kube-apiserver"),
  ]);
  const directory = await mkdtemp(join(tmpdir(), "nodelet-contract-"));
  const running: { etcd?: ServerProcess; apiserver?: ServerProcess } = {};
  const stop = async () => {
    await runAll(
      [
        async () => await running.apiserver?.end(),
        async () => await running.etcd?.end(),
        async () => await rm(directory, { recursive: true, force: true }),
      ],
      "stopping kube-apiserver",
    );
  };
  try {
    const [clientPort, peerPort, securePort] = [await claimPort(), await claimPort(), await claimPort()];
    const etcdUrl = `http://127.0.0.1:${clientPort}`;
    const store = startServerProcess(etcd, etcdArguments(directory, etcdUrl, `http://127.0.0.1:${peerPort}`));
    running.etcd = store;
    const pki = join(directory, "pki");
    const certificates = await ensureClusterCertificates(pki, { files: linuxFiles, now: Date.now(), hosts: [] });
    const url = `https://127.0.0.1:${securePort}`;
    const admin: Credentials = { url, caPem: certificates.authority.certificatePem, ...certificates.admin };
    const args = [...apiserverArguments({ directory, pki, etcdUrl, port: String(securePort) }), ...flags];
    const startServer = async () => {
      const server = startServerProcess(apiserver, args);
      running.apiserver = server;
      await untilReady(admin, [store, server]);
    };
    await startServer();
    const stopServer = async () => await running.apiserver?.end();
    return { admin, directory, pki, certificates, stopServer, startServer, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdArguments(directory: string, clientUrl: string, peerUrl: string): string[] {
  return [
    `--data-dir=${join(directory, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--unsafe-no-fsync",
  ];
}

interface Placement {
  readonly directory: string;
  readonly pki: string;
  readonly etcdUrl: string;
  readonly port: string;
}

function apiserverArguments({ directory, pki, etcdUrl, port }: Placement): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${join(directory, "made")}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.96.0.0/16",
    `--tls-cert-file=${join(pki, "apiserver.crt")}`,
    `--tls-private-key-file=${join(pki, "apiserver.key")}`,
    `--client-ca-file=${join(pki, "ca.crt")}`,
    `--requestheader-client-ca-file=${join(pki, "front-proxy-ca.crt")}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${join(pki, "front-proxy-client.crt")}`,
    `--proxy-client-key-file=${join(pki, "front-proxy-client.key")}`,
    `--kubelet-client-certificate=${join(pki, "apiserver-kubelet-client.crt")}`,
    `--kubelet-client-key=${join(pki, "apiserver-kubelet-client.key")}`,
    `--service-account-key-file=${join(pki, "sa.pub")}`,
    `--service-account-signing-key-file=${join(pki, "sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth",
    "--allow-privileged=true",
  ];
}

async function untilReady(credentials: Credentials, running: readonly ServerProcess[]): Promise<void> {
  const client = createApiClient(credentials);
  const deadline = Date.now() + START_TIMEOUT_MS;
  try {
    for (;;) {
      for (const { name, hasEnded, log } of running) {
        if (hasEnded()) throw new Error(`${name} ended before it was ready:\n${log()}`);
      }
      // The default namespace is made shortly after the server says that it is ready.
      if ((await statusOf(client, "/readyz")) === 200 && (await statusOf(client, DEFAULT_NAMESPACE)) === 200) return;
      if (Date.now() > deadline) throw new Error(`kube-apiserver did not become ready:\n${running.at(-1)?.log()}`);
      await delay(POLL_MS);
    }
  } finally {
    client.close();
  }
}

const DEFAULT_NAMESPACE = "/api/v1/namespaces/default";

/** 0 while nobody listens. */
async function statusOf(client: ReturnType<typeof createApiClient>, path: string): Promise<number> {
  try {
    return (await client.json("GET", path)).status;
  } catch {
    return 0;
  }
}
