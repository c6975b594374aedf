import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type TLSSocket } from "node:tls";
import { assert } from "../../../src/base/assert.ts";
import type { PemSource } from "../../../src/kube/connection.ts";
import { readKubeconfig } from "../../../src/kube/kubeconfig.ts";
import { startCluster } from "../../../src/testing/start-cluster.ts";
import { type ApiClient, type Credentials, createApiClient } from "../../contract/api/client.ts";
import { BrokenPromise, promise } from "../target.ts";

/** A real API server in this process, so that the coverage of its code counts and its stalls are seen. */
interface ApiServer {
  /** May do everything. */
  readonly admin: ApiClient;
  /** A fresh connection of the administrator. */
  dial(protocol: "http/1.1" | "h2"): Promise<TLSSocket>;
  /** Throws when the server said that it has a bug. */
  requireNoBug(): void;
  /** Throws unless another client, with a connection of its own, is answered. */
  requireOthersServed(): Promise<void>;
  close(): Promise<void>;
}

/** Against waiting for ever; the judge measures stalls. */
const OTHERS_MS = 30_000;

export async function startApiServer(): Promise<ApiServer> {
  const bugs: string[] = [];
  const log = (level: string, message: string, fields: Readonly<Record<string, unknown>>) => {
    if (level === "error") bugs.push(`${message}: ${String(fields["error"] ?? "")}`);
  };
  const cluster = await startCluster({ log });
  const credentials = await readCredentials(cluster.kubeconfigPath);
  const admin = createApiClient(credentials);
  const other = createApiClient(credentials);
  return {
    admin,
    async dial(protocol) {
      const { url, caPem: ca, certificatePem: cert, keyPem: key } = credentials;
      const port = Number(new URL(url).port);
      const socket = connect({ host: "127.0.0.1", port, ca, cert, key, ALPNProtocols: [protocol] });
      socket.on("error", () => undefined);
      await once(socket, "secureConnect");
      return socket;
    },
    requireNoBug() {
      const [bug] = bugs.splice(0);
      if (bug !== undefined) throw new Error(bug);
    },
    async requireOthersServed() {
      const late = new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new BrokenPromise("another client waits for its answer")), OTHERS_MS).unref();
      });
      const { status } = await Promise.race([other.json("GET", "/api/v1/namespaces/default"), late]);
      promise(status === 200, `another client is answered with ${status}`);
    },
    async close() {
      admin.close();
      other.close();
      await cluster.stop();
    },
  };
}

async function readCredentials(path: string): Promise<Required<Omit<Credentials, "token">>> {
  const { server, authority, user } = await readKubeconfig(path, { read: async (file) => await readFile(file) });
  const { clientCertificate } = user;
  return {
    url: server,
    caPem: inlineOf(authority),
    certificatePem: inlineOf(clientCertificate?.certificate),
    keyPem: inlineOf(clientCertificate?.key),
  };
}

function inlineOf(source: PemSource | undefined): string {
  assert(source?.kind === "inline", "the kubeconfig of a test holds its credentials itself");
  return source.pem;
}

const QUIET_MS = 30;
const CLOSE_MS = 1_000;

/** Writes all of it, reads what comes, and leaves when nothing more comes for a moment. */
export async function sendAndLeave(socket: TLSSocket, input: Buffer): Promise<void> {
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  let isAnswered = false;
  socket.on("data", () => {
    isAnswered = true;
  });
  socket.write(input);
  await Promise.race([once(socket, "data").catch(() => undefined), closed, delay(QUIET_MS)]);
  if (isAnswered) await Promise.race([closed, delay(1)]);
  socket.end();
  await Promise.race([closed, delay(CLOSE_MS)]);
  socket.destroy();
}

async function delay(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms));
}
