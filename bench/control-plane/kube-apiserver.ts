import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { linuxFiles } from "../../src/host/linux/files/linux-files.ts";
import { ensureClusterCertificates } from "../../src/pki/cluster-certificates.ts";
import type { ApiProgram } from "./api-server.ts";
import { endProcess, findFreePorts, readCpuMs, readMemory, startProcess, untilReady } from "./server-process.ts";

/** Upstream's, on an etcd of its own that flushes every write, as it does by default. `assets` holds both programs. */
export function kubeApiserverProgram(assets: string): ApiProgram {
  return {
    name: "kube-apiserver, etcd",
    async start(directory, signal) {
      const pki = join(directory, "pki");
      await mkdir(pki, { recursive: true });
      const certificates = await ensureClusterCertificates(pki, { files: linuxFiles, now: Date.now(), hosts: [] });
      const [clientPort = 0, peerPort = 0, port = 0] = await findFreePorts(3);
      const etcdUrl = `http://127.0.0.1:${clientPort}`;
      const logFile = join(directory, "bench.log");
      const startedAt = performance.now();
      const etcd = startProcess(join(assets, "etcd"), etcdFlags(directory, etcdUrl, peerPort), logFile);
      const child = startProcess(
        join(assets, "kube-apiserver"),
        apiserverFlags({ directory, pki, etcdUrl, port }),
        logFile,
      );
      const stop = async () => {
        await endProcess(child);
        await endProcess(etcd);
      };
      try {
        const { authority, admin } = certificates;
        const endpoint = { host: "127.0.0.1", port, caPem: authority.certificatePem, ...admin };
        await untilReady({ child, logFile, signal }, async () => endpoint);
        return {
          endpoint,
          readyAfterMs: performance.now() - startedAt,
          readMemory: async () => await readMemory([child.pid, etcd.pid]),
          readCpuMs: async () => await readCpuMs([child.pid, etcd.pid]),
          stop,
        };
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}

function etcdFlags(directory: string, clientUrl: string, peerPort: number): string[] {
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${join(directory, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ];
}

interface Placement {
  directory: string;
  pki: string;
  etcdUrl: string;
  port: number;
}

function apiserverFlags({ directory, pki, etcdUrl, port }: Placement): string[] {
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
    `--service-account-key-file=${join(pki, "sa.pub")}`,
    `--service-account-signing-key-file=${join(pki, "sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged=true",
  ];
}
