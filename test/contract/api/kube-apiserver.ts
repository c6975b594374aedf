import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nodeFiles } from "../../../src/host/node/node-files.ts";
import { ensureClusterCertificates } from "../../../src/pki/cluster-certificates.ts";
import { type Credentials, createApiClient } from "./client.ts";

/** What a started server is reached by. */
export interface StartedApiServer {
  /** Of an administrator in `system:masters`. */
  readonly admin: Credentials;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 15_000;
const POLL_MS = 100;
/** Of what a server said before it ended, in the error that tells of it. */
const SHOWN_LOG_CHARACTERS = 4_000;

/** A process of the server, ended by its handle and by nothing else. */
interface Running {
  readonly process: ChildProcess;
  /** What it wrote last. */
  log(): string;
}

/** kube-apiserver and etcd of a directory, as controller-runtime's envtest starts them: on free ports, in a directory of their own. */
export async function startKubeApiserver(assets: string): Promise<StartedApiServer> {
  const [etcd, apiserver] = await Promise.all([findProgram(assets, "etcd"), findProgram(assets, "kube-apiserver")]);
  const directory = await mkdtemp(join(tmpdir(), "nodelet-contract-"));
  const running: Running[] = [];
  const stop = async () => {
    for (const { process } of running.toReversed()) await end(process);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const [clientPort, peerPort, securePort] = await freePorts(3);
    const etcdUrl = `http://127.0.0.1:${clientPort}`;
    running.push(run(etcd, etcdArguments(directory, etcdUrl, `http://127.0.0.1:${peerPort}`)));
    const pki = join(directory, "pki");
    const { authority, admin } = await ensureClusterCertificates(pki, { files: nodeFiles, now: Date.now(), hosts: [] });
    running.push(run(apiserver, apiserverArguments({ directory, pki, etcdUrl, port: String(securePort) })));
    const url = `https://127.0.0.1:${securePort}`;
    const credentials: Credentials = { url, caPem: authority.certificatePem, ...admin };
    await untilReady(credentials, running);
    return { admin: credentials, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function findProgram(assets: string, name: string): Promise<string> {
  const path = join(assets, name);
  try {
    await access(path, constants.X_OK);
    return path;
  } catch {
    throw new Error(`KUBEBUILDER_ASSETS is ${assets}, and there is no ${name} in it that can be run`);
  }
}

/** Free now; nobody else asks for ports in that range in the meantime. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      server.close();
      await once(server, "close");
      return typeof address === "object" && address !== null ? address.port : 0;
    }),
  );
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
    `--service-account-key-file=${join(pki, "sa.pub")}`,
    `--service-account-signing-key-file=${join(pki, "sa.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged=true",
  ];
}

function run(program: string, args: readonly string[]): Running {
  const process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const keep = (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-SHOWN_LOG_CHARACTERS);
  };
  process.stdout?.on("data", keep);
  process.stderr?.on("data", keep);
  process.on("error", (error) => keep(Buffer.from(`${error.message}\n`)));
  return { process, log: () => log };
}

async function untilReady(credentials: Credentials, running: readonly Running[]): Promise<void> {
  const client = createApiClient(credentials);
  const deadline = Date.now() + START_TIMEOUT_MS;
  try {
    for (;;) {
      for (const { process, log } of running) {
        if (hasEnded(process)) throw new Error(`${process.spawnfile} ended before it was ready:\n${log()}`);
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

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess) =>
  pid === undefined || exitCode !== null || signalCode !== null;

async function end(process: ChildProcess): Promise<void> {
  if (hasEnded(process)) return;
  const ended = once(process, "exit");
  const force = setTimeout(() => process.kill("SIGKILL"), STOP_TIMEOUT_MS);
  process.kill("SIGTERM");
  await ended;
  clearTimeout(force);
}
