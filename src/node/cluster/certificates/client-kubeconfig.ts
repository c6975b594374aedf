import { posix } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";
import type { KubeConnection, PemSource } from "../../../kube/connection.ts";
import { readKubeconfig } from "../../../kube/kubeconfig.ts";
import { type KeyedCertificate, readCertificate, splitCertificates } from "../../../pki/read-certificate.ts";
import { ensureDirectory } from "./certificate-store.ts";
import { readPair } from "./pem-pair.ts";

/** How the bootstrap kubeconfig reaches the API server. The node's own kubeconfig reaches it in the same way. */
export type BootstrapConnection = Pick<
  KubeConnection,
  "server" | "authority" | "insecureSkipTlsVerify" | "tlsServerName" | "proxyUrl"
>;

interface KubeconfigDeps {
  readonly files: Pick<Files, "read" | "stat" | "writeAtomically" | "makeDirectory">;
  readonly log: Log;
}

const MAX_PEM_BYTES = 256 * 1024;

/**
 * Tells whether the file is there and has a client certificate with its key, none of it expired. In that case no
 * bootstrap is needed (`isClientConfigStillValid` of upstream's bootstrap.go). Faults of a file that is there are
 * logged.
 */
export async function isClientKubeconfigValid(
  { files, log }: KubeconfigDeps,
  { path, now }: { path: string; now: number },
): Promise<boolean> {
  if ((await files.stat(path)) === undefined) return false;
  const problem = await findProblem(files, path, now).catch((error: unknown) => messageOf(error));
  if (problem !== undefined) {
    log.warn("The existing kubeconfig is of no use, a new client certificate is requested", { path, error: problem });
  }
  return problem === undefined;
}

async function findProblem(files: KubeconfigDeps["files"], path: string, now: number): Promise<string | undefined> {
  const pair = await readClientPair(files, path);
  if (pair === undefined) return "its client certificate and key are missing, or do not belong together";
  const isExpired = splitCertificates(pair.certificatePem).some((pem) => readCertificate(pem).notAfter < now);
  return isExpired ? "part of its client certificate is expired" : undefined;
}

/** Reads the client certificate of a kubeconfig, undefined where it has none. Rejects where a file of it cannot be read. */
export async function readClientPair(files: Pick<Files, "read">, path: string): Promise<KeyedCertificate | undefined> {
  const { clientCertificate } = (await readKubeconfig(path, files)).user;
  if (clientCertificate === undefined) return undefined;
  const { certificate, key } = clientCertificate;
  return readPair(...(await Promise.all([readPem(files, certificate), readPem(files, key)])));
}

async function readPem(files: Pick<Files, "read">, source: PemSource): Promise<string> {
  if (source.kind === "inline") return source.pem;
  return (await files.read(source.path, MAX_PEM_BYTES)).toString("utf8");
}

/**
 * Writes the kubeconfig. It names the certificate by its path, so that it need not change when the certificate is
 * rotated.
 */
export async function writeClientKubeconfig(
  { files }: KubeconfigDeps,
  { path, pairPath, connection }: { path: string; pairPath: string; connection: BootstrapConnection },
): Promise<void> {
  await ensureDirectory(files, posix.dirname(path));
  await files.writeAtomically(path, formatKubeconfig(connection, pairPath), 0o600);
}

/** The cluster, user and context have the names that upstream gives them. */
function formatKubeconfig(connection: BootstrapConnection, pairPath: string): string {
  const { authority, insecureSkipTlsVerify, server, tlsServerName, proxyUrl } = connection;
  const cluster: Record<string, string | boolean | undefined> = {
    "certificate-authority": authority?.kind === "file" ? authority.path : undefined,
    "certificate-authority-data":
      authority?.kind === "inline" ? Buffer.from(authority.pem).toString("base64") : undefined,
    "insecure-skip-tls-verify": insecureSkipTlsVerify === true ? true : undefined,
    "proxy-url": proxyUrl,
    server,
    "tls-server-name": tlsServerName,
  };
  // JSON is also YAML. A quoted value cannot be taken for something else.
  const fields = Object.entries(cluster).filter(([, value]) => value !== undefined);
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
${fields.map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`).join("\n")}
  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
preferences: {}
users:
- name: default-auth
  user:
    client-certificate: ${JSON.stringify(pairPath)}
    client-key: ${JSON.stringify(pairPath)}
`;
}
